package diag

var worldCodes = []Info{}
