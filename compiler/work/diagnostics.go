package work

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/diag"
)

func failed(subject string, at diag.Pos, said string) diag.Diagnostic {
	said, _, _ = strings.Cut(strings.TrimPrefix(said, "cue: "), "\n")
	if utf8.RuneCountInString(said) > 100 {
		said = string([]rune(said)[:100]) + "…"
	}
	return diag.Diagnostic{
		Code: diag.CUEFails, At: at,
		Message: fmt.Sprintf("%s asks for something at which CUE itself fails (%s); what it computes has to be written otherwise", subject, said),
	}
}

// TooLong is what is said where something is computed for longer than a run may take for it.
func TooLong(i Item, limit, flag string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TooMuch, At: i.At,
		Message: fmt.Sprintf("%s has been computed for %s without an end; choices, comprehensions and texts that multiply each other do that. If it is to take that long, %s raises the bound", i.Subject, limit, flag),
	}
}

// TooLarge is what is said where more memory is in use than a run may take.
func TooLarge(i Item, limit, flag string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TooMuch, At: i.At,
		Message: fmt.Sprintf("more than %s of memory are in use while %s is computed; choices, comprehensions and texts that multiply each other do that. If it is to take that much, %s raises the bound", limit, i.Subject, flag),
	}
}
