package diag

var secretCodes = []Info{}
