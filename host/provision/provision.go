// Package provision makes a server agree with who asks for it: a login, a database, a
// prefix of keys for every consumer that the mesh lists at a provider.
//
// A pass observes (the list, the credential files, and now and then the server), decides
// (a pure function of what one login looked like before and looks like now) and acts on
// one login at a time. What it made carries a mark in the server itself, so that it is
// withdrawn when nobody asks for it any more, also where that happened while the loop
// was down, and so that what somebody else made is left alone. Nothing that holds data
// is ever dropped.
//
// Enter at Loop. What is special to one kind of server is an Adapter, each in a package
// of its own below this one; they pass one suite, package provisiontest. Time, log and
// announcements are arguments, so that every rule of time is tested without waiting.
// Which file says what is in the contract: rules PRV of docs/rules.md.
package provision

import (
	"context"
	"encoding/json"

	"meshc.dev/render/seal"
)

// Consumer is one login that the provider is asked for.
type Consumer struct {
	Login string // `as`: what it logs in with
	// Instance, Node and Label say who asks: gitea on board, for its database.
	Instance, Node, Label string
	// Values is what it asked for, Derived what the mesh made of it: one JSON object each.
	Values, Derived json.RawMessage
	// Entry is the whole of it as it was listed, for adapters that pass it on.
	Entry json.RawMessage
	// Secret is the credential that it logs in with.
	Secret seal.Secret
}

// Name is the consumer as people know it: gitea@board.
func (c Consumer) Name() string { return c.Instance + "@" + c.Node }

// Adapter is one kind of server. Its calls come one after the other, each with a context
// that ends at the time limit; what they return may be a *Failure, which names a class. An
// error must not spell a credential; the loop takes it out of the text all the same.
type Adapter interface {
	// Observe reads what the server has, and changes nothing: which of the consumers it holds
	// exactly so, credential included, and which logins carry the mark and can still be
	// used. A server that can say so answers for all of them in one round trip.
	Observe(ctx context.Context, want []Consumer) (Observed, error)
	// Create sets everything that a consumer asks for, whether or not some of it was
	// there before. A login of that name that does not carry the mark is refused.
	Create(ctx context.Context, c Consumer) error
	// Remove ends a login's sessions and its right to log in, and drops no data. One that
	// is not there, or does not carry the mark, is none of its business: no error.
	Remove(ctx context.Context, login string) error
	// Close gives back what is held between passes.
	Close()
}

// Observed is what a server has, by login.
type Observed struct {
	Held   map[string]bool
	Marked []string
}
