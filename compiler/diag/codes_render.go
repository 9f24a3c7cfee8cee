package diag

var renderCodes = []Info{}
