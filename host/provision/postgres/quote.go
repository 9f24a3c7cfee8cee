package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// name quotes an identifier; every statement goes through it and literal, and no other
// way leads from a name into one (PRV-16).
func name(s string) string { return pgx.Identifier{s}.Sanitize() }

// literal quotes a string, whatever standard_conforming_strings says.
func literal(s string) string {
	return `E'` + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + `'`
}
