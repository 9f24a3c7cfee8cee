package main

import "runtime/debug"

// version of this build; set by the linker for a release.
var version = ""

// versionText is what `mesh-host version` prints; a build that nobody released says so.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

const overview = `mesh-host makes a machine agree with its bundle.

  mesh-host init NODE        make this machine a node: its keys, and the lines for mesh.cue
  mesh-host check BUNDLE     verify a bundle, and say what apply would do
  mesh-host apply BUNDLE     make it true
  mesh-host status           what was applied, and what drifted since
  mesh-host open NAME        one secret that was applied, to standard output
  mesh-host provision KIND   make a server agree with who asks for it
  mesh-host version          which version this is
  mesh-host help COMMAND     more about one

A bundle is a folder that meshc build wrote (dist/NODE), or a tar of it. All commands work on
the machine they run on, or with --root DIR on a machine's files in a folder.

Exit codes: 0 nothing to do, or done; 1 refused, nothing changed; 2 wrong usage; 3 partly done.

Example:
  mesh-host apply /var/lib/bundles/anchor
`

var help = map[string]string{
	"provision": `mesh-host provision KIND --config FILE [--once]

Makes a server agree with who asks for it, again and again until it is told to stop: a login and what
belongs to it for every consumer in the list that a provider is given, and none for whom it does not list
any more. What somebody else made in the server is left alone, and no data is ever dropped. The kind is
postgres or redis (for Valkey, too). FILE is JSON, and no secret stands in it:

  {"receives": "/etc/postgresql/mesh/consumers.json", "provision": "database", "provider": "postgres@anchor",
   "server": {"address": "/run/postgresql", "port": 5432, "user": "postgres"},
   "standing": "/var/lib/mesh-standing/postgres/standing.json",
   "options": {"extensions": ["hstore"]}}

  --config FILE   what it is for; an unknown key, a path that is not absolute and a secret that others
                  can read are refused
  --once          one pass: exits 0 if everything is as asked, 3 if some consumers are not, 1 if nothing
                  could be read or reached

Example:
  mesh-host provision postgres --config /etc/postgresql/mesh/provision.json --once
`,
	"init": `mesh-host init NODE [--ssh-host-key] [--signers FILE] [--root DIR] [--json]

Makes this machine the node NODE: writes which one it is, makes an age key and a WireGuard key that
never leave it, and prints their public halves for mesh.cue. A machine that is the node already
keeps its keys.

  --ssh-host-key   use /etc/ssh/ssh_host_ed25519_key, and make no age key, now or later (it is noted
                   in /etc/mesh-host/identity)
  --signers FILE   take only bundles signed by one of these (the allowed signers file of ssh-keygen)

Example:
  mesh-host init anchor --signers /root/signers
`,
	"check": `mesh-host check BUNDLE [--allow-older] [--other-mesh] [--root DIR] [--json]

Verifies the bundle, opens every secret in it, and says what apply would do, and what on this machine
contradicts it: another firewall that drops what the bundle opens, a hosts line for one of its names,
somebody on an assigned port, a unit that hides one of its own. Changes nothing. Exits 1 where
something is in the way, or apply would fail with some of it.

Example:
  mesh-host check /var/lib/bundles/anchor
`,
	"apply": `mesh-host apply BUNDLE [--allow-older] [--other-mesh] [--root DIR] [--json]

Makes the bundle true: takes away what is not declared any more and gives back what was there before,
makes what is missing, changes what differs, and restarts what reads it. A second run changes nothing.
Everything is verified before anything is changed. One line for each thing that changed, and why.

  --allow-older   take a bundle that is older than the last one, or may be: of a lower serial, of none, of
                  the same with other content, of a time to come, or with another secret under a generation
                  that was applied (as after meshc lock --remake)
  --other-mesh    take a bundle of another mesh than the last one's: all of that is taken away
  --root DIR      work on a machine's files in DIR: units are enabled by links, users written to its
                  etc/passwd, and what only a running machine can do (packages, units that run) is noted in
                  DIR/var/lib/mesh-host/tree.json; a command that validates a file is run in DIR if it is
                  there, else on this machine, else not at all

Exits 3 where something failed: what does not depend on it was done all the same. An interrupt
breaks off what it is at, but lets apt-get finish: 3, or 1 where nothing was changed yet. The next run
takes up where this one ended.

Example:
  mesh-host apply anchor.tar
`,
	"status": `mesh-host status [--root DIR] [--json]

Says which bundle was applied, what is not as it was made, what failed, and what stays though it is not
declared any more, because it holds data; of each secret the generation that is applied, and of each
provider on this machine which consumers are not as they asked for. Exits 3 where there are such.

Example:
  mesh-host status
`,
	"open": `mesh-host open NAME [--root DIR]

Writes one secret that was applied to standard output, exactly as it is. NAME is its identity or path.

Example:
  mesh-host open gitea/secret.requires.database
`,
	"version": `mesh-host version

Says which version this is.
`,
}
