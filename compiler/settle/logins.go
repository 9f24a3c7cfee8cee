package settle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/addr"
)

// logins gives every consumer the name by which it logs in (CON-7). One name is one
// consumer's at its provider, and at all providers of that provision on one machine,
// where they may share a folder of credentials; elsewhere it is free. A consumer has the
// same at whoever answers it, where that can be.
func (r *run) logins() {
	wanted := make(map[addr.Pair]bool, len(r.d.Logins))
	for _, l := range r.d.Logins {
		wanted[l.Pair] = true
	}
	holders := make([]loginHolder, 0, len(r.out.Logins))
	for pair, login := range r.out.Logins {
		holders = append(holders, loginHolder{
			pair: pair, login: login, owned: wanted[pair],
			inParent: r.parent.known && r.parent.now.Logins[pair] == login,
		})
	}
	slices.SortFunc(holders, loginHolder.rank)

	var unsettled []addr.Pair
	for _, l := range r.d.Logins {
		if _, ok := r.out.Logins[l.Pair]; !ok {
			_, had := r.head.now.Logins[l.Pair]
			r.isWanting(entry{"login " + l.Pair.String(), l.At}, had)
			unsettled = append(unsettled, l.Pair)
		}
	}
	entries := len(holders) + len(unsettled)
	b := &loginBook{
		run: r, taken: make(map[loginAt]loginHolder, entries), given: map[loginAt]addr.Consumer{},
		has: make(map[requirement]string, entries), because: map[addr.Pair]Change{},
	}
	for _, p := range []past{r.was, r.head} {
		for pair, login := range p.now.Logins {
			if r.out.Logins[pair] != login {
				b.giveUp(pair, login)
			}
		}
	}
	for _, h := range holders {
		if b.keep(h) && h.owned {
			r.settled.Logins[h.pair] = h.login
		} else if h.owned {
			unsettled = append(unsettled, h.pair)
		}
	}
	slices.SortFunc(unsettled, addr.Pair.Compare)
	b.allot(unsettled)
}

type loginHolder struct {
	pair            addr.Pair
	login           string
	owned, inParent bool
}

// rank orders those who hold a login: who comes first keeps it.
func (h loginHolder) rank(o loginHolder) int {
	return cmp.Or(trueFirst(h.owned, o.owned), trueFirst(h.inParent, o.inParent), h.pair.Compare(o.pair))
}

// requirement is what a consumer asks for, whoever answers.
type requirement struct {
	consumer  addr.Consumer
	provision string
}

// loginAt is a login at one place where it is one consumer's.
type loginAt struct{ place, login string }

// places are where a pair's login has to be its consumer's alone.
func places(p addr.Pair, login string) [2]loginAt {
	return [2]loginAt{{p.Provider.String(), login}, {string(p.Provider.Node) + " " + p.Provision, login}}
}

// loginBook says who has which login.
type loginBook struct {
	*run
	taken   map[loginAt]loginHolder
	given   map[loginAt]addr.Consumer // given up, and by whom; nobody's where two had it
	has     map[requirement]string
	because map[addr.Pair]Change
}

// keep leaves an entry as it is where that can be.
func (b *loginBook) keep(h loginHolder) bool {
	change := Change{Entry: "login " + h.pair.String(), Before: h.login}
	if !h.owned && b.d.Mode.Prune {
		change.Because = "nobody owns it"
		b.drop(h, change)
		return true
	}
	other, isTaken := b.other(h.pair, h.login)
	switch {
	case isReservedLogin(h.login):
		change.Because = "reserved"
		if !b.mayMove() {
			b.fault(loginReserved(h, b.out.LoginAt(h.pair)))
			return true
		}
	case isTaken:
		change.Because = "gave way to " + other.pair.String()
		if !b.mayMove() {
			b.fault(loginShared(h, other, b.out.LoginAt(h.pair), b.out.LoginAt(other.pair)))
			return true
		}
	default:
		b.take(h)
		if k := (requirement{h.pair.Consumer, h.pair.Provision}); b.has[k] == "" {
			b.has[k] = h.login
		}
		return true
	}
	b.drop(h, change)
	return false
}

// other is another consumer that has a login where a pair would have it.
func (b *loginBook) other(p addr.Pair, login string) (loginHolder, bool) {
	for _, at := range places(p, login) {
		if h, ok := b.taken[at]; ok && h.pair.Consumer != p.Consumer {
			return h, true
		}
	}
	return loginHolder{}, false
}

func (b *loginBook) take(h loginHolder) {
	for _, at := range places(h.pair, h.login) {
		if _, ok := b.taken[at]; !ok {
			b.taken[at] = h
		}
	}
}

func (b *loginBook) drop(h loginHolder, c Change) {
	delete(b.out.Logins, h.pair)
	b.giveUp(h.pair, h.login)
	if h.owned {
		b.because[h.pair] = c
		return
	}
	b.changed(c)
}

func (b *loginBook) giveUp(pair addr.Pair, login string) {
	for _, at := range places(pair, login) {
		consumer := pair.Consumer
		if o, ok := b.given[at]; ok && o != consumer {
			consumer = addr.Consumer{}
		}
		b.given[at] = consumer
	}
}

func (b *loginBook) allot(pairs []addr.Pair) {
	for _, pair := range pairs {
		k := requirement{pair.Consumer, pair.Provision}
		login := b.has[k]
		for attempt := 0; login == "" || !b.isFree(login, pair); attempt++ {
			login = loginFor(k, attempt)
		}
		b.has[k] = login
		b.take(loginHolder{pair: pair, login: login})
		b.out.Logins[pair] = login
		b.settled.Logins[pair] = login
		change, ok := b.because[pair]
		if !ok {
			change = Change{Entry: "login " + pair.String(), Because: isNew}
		}
		change.After = login
		b.changed(change)
	}
}

func (b *loginBook) isFree(login string, p addr.Pair) bool {
	if _, taken := b.other(p, login); taken {
		return false
	}
	for _, at := range places(p, login) {
		if by, given := b.given[at]; given && by != p.Consumer {
			return false
		}
	}
	return true
}

const (
	// maxLogin is the longest login: PostgreSQL cuts names to 63 bytes without a word
	// (NAMEDATALEN - 1), and two that are cut alike would be one.
	maxLogin = 63
	// suffix is what tells logins apart that would be the same: _ and 32 bits in hex.
	suffix = 1 + 8
)

// loginFor is the login that a requirement has if nobody else has it: the instance,
// the label where it is not the provision's name, and the node. Where that is taken or too
// long it ends in a digest of the whole; further attempts have further digests.
func loginFor(k requirement, attempt int) string {
	parts := k.consumer.Instance.Name
	if k.consumer.Label != k.provision {
		parts += "_" + k.consumer.Label
	}
	login := strings.ReplaceAll(parts+"_"+string(k.consumer.Instance.Node), "-", "_")
	// SQL wants a name that begins with a digit in quotes everywhere.
	if login[0] >= '0' && login[0] <= '9' || isReservedLogin(login) {
		login = "app_" + login
	}
	if attempt == 0 && len(login) <= maxLogin {
		return login
	}
	sum := sha256.Sum256([]byte(k.consumer.String() + " " + k.provision + " " + strconv.Itoa(attempt)))
	return login[:min(len(login), maxLogin-suffix)] + "_" + hex.EncodeToString(sum[:4])
}
