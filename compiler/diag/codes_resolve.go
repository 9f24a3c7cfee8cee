package diag

var resolveCodes = []Info{}
