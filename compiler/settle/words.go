package settle

import "strings"

// isReservedLogin says whether a name means something to a server already: its
// administrators, the roles that PostgreSQL keeps for itself, and words that SQL reads
// as something else than a name.
func isReservedLogin(s string) bool {
	return strings.HasPrefix(s, "pg_") || reservedLogins[s]
}

var reservedLogins = func() map[string]bool {
	m := map[string]bool{}
	for _, list := range []string{administrators, reservedWords, functionWords} {
		for _, w := range strings.Fields(list) {
			m[w] = true
		}
	}
	return m
}()

// administrators, and names that stand for everybody or nobody: "none" and "public"
// are no roles in PostgreSQL, "default" is Redis' user without a name.
const administrators = "postgres root admin administrator superuser default public none mysql sa"

// reservedWords and functionWords are the keywords of the categories "reserved" and
// "reserved (can be function or type name)" in appendix C of PostgreSQL 17's manual.
const (
	reservedWords = `all analyse analyze and any array as asc asymmetric both case cast check collate column
		constraint create current_catalog current_date current_role current_time current_timestamp current_user
		default deferrable desc distinct do else end except false fetch for foreign from grant group having in
		initially intersect into lateral leading limit localtime localtimestamp not null offset on only or order
		placing primary references returning select session_user some symmetric system_user table then to trailing
		true union unique user using variadic when where window with`

	functionWords = `authorization binary collation concurrently cross current_schema freeze full ilike inner is
		isnull join left like natural notnull outer overlaps right similar tablesample verbose`
)
