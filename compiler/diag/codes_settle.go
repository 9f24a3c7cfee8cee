package diag

var settleCodes = []Info{}
