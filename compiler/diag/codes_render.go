package diag

import "slices"

var renderCodes = slices.Concat(computedCodes, []Info{})
