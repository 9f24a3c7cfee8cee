package diag

var loadCodes = []Info{}
