package diag

var exchangeCodes = []Info{}
