package diag

// Codes of secrets: keys, the sealed store, and what is made, kept and supplied.
const (
	RecipientInvalid Code = "E0601"
	RecipientTwice   Code = "E0602"
	RecipientMissing Code = "E0603"
	RecipientChanged Code = "E0604"
	RecoveryNew      Code = "E0605"
	RecipientSample  Code = "E0688"

	SecretLost        Code = "E0611"
	SecretNotMade     Code = "E0612"
	SecretNotSupplied Code = "E0613"
	SecretNotPersons  Code = "E0614"
	SecretUnknown     Code = "E0615"
	SecretEndsWrong   Code = "E0616"
	RotateSupplied    Code = "E0617"
	SecretReplaced    Code = "E0685"
	SecretEarlier     Code = "E0686"
	LockOfOtherMesh   Code = "E0687"

	BlobMissing Code = "E0621"
	BlobDamaged Code = "E0622"
	BlobForKey  Code = "E0623"
	BlobUnknown Code = "E0624"
	BlobForeign Code = "E0625"
	BlobShared  Code = "E0626"

	RetireStillThere Code = "E0631"
	RetireNothing    Code = "E0632"

	SecretAwaited Code = "W0641"
	HolderJoined  Code = "W0642"
	RecoveryGone  Code = "W0643"
)

var secretCodes = []Info{
	{
		Code: RecipientInvalid, Rule: "SEC-1", Title: "key that nothing can be sealed to",
		Explain: `A machine's secrets are sealed to its recipient: an age1… key, an age1pq… key, or an ssh-ed25519 public key such as its
host key. RSA keys are the weakest and slowest that the age format knows, and other SSH keys can only sign. A private key
in this place has left its machine and has to be replaced; meshc never repeats what it found there.`,
		Wrong: `nodes: anchor: recipient: "ssh-rsa AAAAB3NzaC1yc2E… root@anchor"`,
		Right: `nodes: anchor: recipient: "ssh-ed25519 AAAAC3NzaC1lZDI1… root@anchor"`,
	},
	{
		Code: RecipientTwice, Rule: "SEL-11", Title: "one key for two",
		Explain: `Two machines with one key can open each other's secrets, so nothing that is sealed to one of them is its own. It
happens when a disk is cloned with the key on it, or a line is copied. A recovery key that is also a machine's makes that
machine able to open everything.`,
		Wrong: `nodes: anchor: recipient: "age1v92lzg5s…"
nodes: board: recipient: "age1v92lzg5s…"`,
		Right: `nodes: anchor: recipient: "age1v92lzg5s…"
nodes: board: recipient: "age1xm8dxqk0…"       // mesh-host init board, on the board itself`,
	},
	{
		Code: RecipientMissing, Rule: "SEC-1", Title: "machine without a key",
		Explain: `Something on this machine takes, gives or needs a secret, and the machine has no key to seal it to.`,
		Wrong:   `nodes: board: assign: gitea: {}`,
		Right: `nodes: board: {
	recipient: "age1xm8dxqk0…"                    // mesh-host init board prints it
	assign: gitea: {}
}`,
	},
	{
		Code: RecipientChanged, Rule: "SEC-2", Title: "key of a machine changed",
		Explain: `Secrets are sealed to a key that the machine no longer has in mesh.cue. Nobody can seal them again, since nobody but their
holders can open them: they are made anew, at both ends, in one step. That step is never taken in silence, so that nobody
slips in a key of his own. Compare the fingerprint with what the machine itself prints (mesh-host init, or ssh-keygen -lf
/etc/ssh/ssh_host_ed25519_key.pub) before you confirm it.`,
		Wrong: `nodes: anchor: recipient: "age1v92lzg5s…"       // another one when its secrets were sealed`,
		Right: `$ meshc lock --new-recipient anchor`,
	},
	{
		Code: RecoveryNew, Rule: "SEC-2", Title: "recovery key cannot open what was made before",
		Explain: `A recovery key opens every secret that was made while it stood in mesh.cue. Those made before have no copy for it, and none
can be made: they are made anew, once that is confirmed. Confirm it only if you know whose key it is, since it opens
everything from then on.`,
		Wrong: `recovery: ["age1q0m5e…"]                         // in a mesh that has secrets`,
		Right: `$ meshc lock --new-recipient recovery`,
	},
	{
		Code: RecipientSample, Rule: "SEC-1", Title: "sample in place of a machine's key",
		Explain: `meshc init used to write one recipient into every mesh, so that it had one. It is a sample: no machine has the key to it, and what is
sealed to it can never be opened. mesh-host init makes a key on the machine itself and prints the line.`,
		Wrong: `nodes: first: recipient: "age1fjnq5xu92jg8e59u85qdj90vv7nyst86wr23dau3mepzw8nk5eequ6y06q"`,
		Right: `nodes: first: recipient: "age1xm8dxqk0…"         // mesh-host init first prints it`,
	},
	{
		Code: SecretLost, Rule: "PRT-9", Title: "secret is no longer in the lock",
		Explain: `The last commit's lock has this secret, or its sealed blobs are still there, and the lock in the work tree has no entry for
it. A merge or a hand lost the line. To make the secret anew would lock out whoever still uses the old one, for example a
database that was initialised with it, so it is never done in silence: bring the line back, or say that it is wanted.`,
		Wrong: `$ sed -i /gitea@board/d mesh.lock.hcl && meshc build`,
		Right: `$ git restore mesh.lock.hcl && meshc build`,
	},
	{
		Code: SecretNotMade, Rule: "SEC-8", Title: "secret not made yet",
		Explain: `A locked build (--locked, and any build where CI is set) makes nothing. Make the secret on a person's machine and commit the
lock together with the folder sealed.`,
		Wrong: `$ meshc build --locked`,
		Right: `$ meshc lock && git add mesh.lock.hcl sealed && git commit -m "secrets for gitea" && meshc build --locked`,
	},
	{
		Code: SecretNotSupplied, Rule: "LIC-2", Title: "secret not supplied yet",
		Explain: `This secret comes from a person: a token or a key that somebody else issued. It was not supplied yet, or a holder came later
and has no copy; nobody can make one from the copies of the others. accept asks for the value, seals it to every holder
and forgets it.`,
		Wrong: `$ meshc build                                     # with a licence that nobody has entered`,
		Right: `$ meshc accept personal < token`,
	},
	{
		Code: SecretNotPersons, Rule: "LIC-2", Title: "secret is made, not supplied",
		Explain: `Only what a module declares as supplied, and licences, are accepted from a person. All other secrets are made by meshc, so
that nobody ever knew them.`,
		Wrong: `$ meshc accept board/gitea/secret-key`,
		Right: `$ meshc rotate secret-key --consumer gitea@board  # a new value`,
	},
	{
		Code: SecretUnknown, Rule: "DIA-4", Title: "no such secret",
		Explain: `Nothing in the mesh has a secret of this name. A secret is named by its provision, its licence or its need; to accept one it
is NODE/INSTANCE/NEED or the licence.`,
		Wrong: `$ meshc rotate databse`,
		Right: `$ meshc rotate database`,
	},
	{
		Code: SecretEndsWrong, Rule: "SEC-5", Title: "entry of the lock with other ends",
		Explain: `A credential belongs to the consumer and the provider that its name says. This entry of the lock names others as its holders,
which only a hand or a bad merge can have written.`,
		Wrong: `"credential postgres@anchor database gitea@board" = { generation = 1, ends = ["provider postgres@anchor"], … }`,
		Right: `$ git restore mesh.lock.hcl`,
	},
	{
		Code: RotateSupplied, Rule: "SEC-6", Title: "only its issuer can change it",
		Explain: `A secret that a person supplied is somebody else's: they change it, and the new value is accepted.`,
		Wrong:   `$ meshc rotate personal`,
		Right:   `$ meshc accept personal < new-token`,
	},
	{
		Code: SecretReplaced, Rule: "SEC-5", Title: "another secret under the same generation",
		Explain: `Everybody can seal a value to a machine, since that takes only its public key, and a sealed value does not say who sealed it. But a
secret is made once, and every new value has a new generation. So an entry of the lock that has the generation of the last
commit's (in diff: of the state compared with) and other blobs was not made by meshc. Either somebody put a value of his own in the
place of yours, or two branches made the secret anew at the same time and a merge took the other one: then bring back the
entry that machines have already, and rotate it if a new value is wanted.`,
		Wrong: `"credential …" = { generation = 1, …, sha256 = ["…"] }   # another one than in git, and the same generation`,
		Right: `$ git checkout HEAD -- mesh.lock.hcl sealed
$ meshc rotate database                                  # generation 2`,
	},
	{
		Code: SecretEarlier, Rule: "SEC-5", Title: "earlier value of a secret",
		Explain: `The lock has a lower generation of this secret than the last commit's (in diff: than the state compared with), so a value that was
given up, perhaps because somebody knew it, would be in use again. Machines refuse it too (mesh-host apply --allow-older takes it).`,
		Wrong: `$ git checkout HEAD~5 -- mesh.lock.hcl sealed && meshc build`,
		Right: `$ meshc rotate database                                  # a new value
$ meshc build --earlier-secrets                          # the earlier one, if it is meant`,
	},
	{
		Code: LockOfOtherMesh, Rule: "SEC-5", Title: "secrets of a mesh by another name",
		Explain: `Every sealed secret says for which mesh it was made, and a machine opens none that says another. Where the mesh got another name,
its secrets are made anew, all at once; what a person supplied is asked for again. The other way is the old name.`,
		Wrong: `name: "house"                                         // it was "home" when the secrets were sealed`,
		Right: `$ meshc lock --remake`,
	},
	{
		Code: BlobMissing, Rule: "SEC-7", Title: "sealed blob is missing",
		Explain: `The lock names a sealed blob that is not there. The two are written together and have to be committed together. If no copy
of the blob is left anywhere, meshc lock --remake makes the secret anew, for all its holders.`,
		Wrong: `$ git add mesh.lock.hcl && git commit             # without sealed`,
		Right: `$ git add mesh.lock.hcl sealed && git commit`,
	},
	{
		Code: BlobDamaged, Rule: "SEC-5", Title: "sealed blob is not the one that was made",
		Explain: `The lock has the SHA-256 of every blob, and this one has other bytes: it was cut short, altered, or another was put in its
place. A new value always has a new generation and a new file, so the bytes of a blob never change.`,
		Wrong: `$ cp sealed/board/credential.….age sealed/cabin/credential.….age`,
		Right: `$ git restore sealed`,
	},
	{
		Code: BlobForKey, Rule: "SEC-5", Title: "sealed to another key than the lock says",
		Explain: `The blob is whole, and it shows that it is sealed to another key than the one in the lock's entry. The entry was edited by
hand. To give a secret to another key it has to be made anew.`,
		Wrong: `"credential …" = { …, to = ["SHA256:…"], … }     # edited`,
		Right: `$ git restore mesh.lock.hcl && meshc lock --new-recipient board`,
	},
	{
		Code: BlobUnknown, Rule: "SEC-7", Title: "sealed blob that the lock does not name",
		Explain: `The folder sealed holds a blob for which the lock has no entry: half of a commit, or what is left of a merge. A locked build
changes nothing, so it refuses; lock takes the blob away.`,
		Wrong: `$ git add sealed && git commit && meshc build --locked`,
		Right: `$ meshc lock && git add --all mesh.lock.hcl sealed && git commit`,
	},
	{
		Code: BlobForeign, Rule: "SEC-7", Title: "file in sealed that meshc did not write",
		Explain: `Every age file below sealed is named after what it is for and after its content. This one is not, so it is not ours; meshc
neither uses nor deletes it.`,
		Wrong: `$ cp notes.age sealed/`,
		Right: `$ mv sealed/notes.age .`,
	},
	{
		Code: BlobShared, Rule: "SEC-1", Title: "one blob for two",
		Explain: `Two entries of the lock name the same sealed blob. No two holders ever share one; a hand or a bad merge wrote one of the lines.`,
		Wrong:   `two lines of mesh.lock.hcl with the same name in blobs`,
		Right:   `$ git restore mesh.lock.hcl`,
	},
	{
		Code: RetireStillThere, Rule: "SEC-2", Title: "machine to retire still has its key",
		Explain: `retire makes anew, for all others, what a machine's key could ever open. As long as the mesh has that key, the new values
would be sealed to it as well. Take the node out of mesh.cue, or give it the new key that it has since it was set up again.`,
		Wrong: `nodes: laptop: {recipient: "age1v92lzg5s…", …}   // and: meshc retire laptop`,
		Right: `// nodes: laptop is gone                          // and: meshc retire laptop`,
	},
	{
		Code: RetireNothing, Rule: "SEC-9", Title: "nothing was ever sealed to this machine",
		Explain: `Neither the lock nor any lock in git's history has a secret that was sealed to a machine of this name.`,
		Wrong:   `$ meshc retire latop`,
		Right:   `$ meshc retire laptop`,
	},
	{
		Code: SecretAwaited, Rule: "LIC-2", Title: "secret still to be supplied",
		Explain: `lock made what can be made. This secret comes from a person, and a build is refused until it was supplied.`,
		Wrong:   `$ meshc lock`,
		Right:   `$ meshc accept personal < token`,
	},
	{
		Code: HolderJoined, Rule: "SEC-4", Title: "shared secret made anew for a new holder",
		Explain: `All instances in a scope share one secret, and nobody can make a copy of it for one that came later. So it was made anew for
all of them: they work together again once every machine has applied.`,
		Wrong: `nodes: cabin: assign: consul: {}                 // the fourth of them`,
		Right: `Apply all machines that hold it, one soon after the other.`,
	},
	{
		Code: RecoveryGone, Rule: "SEC-2", Title: "former recovery key opens what is kept",
		Explain: `A recovery key was taken out of mesh.cue. Its copies are removed, but whoever has it and the git history can still open the
secrets that were made before. If the key is not to be trusted, make them anew.`,
		Wrong: `recovery: []                                     // it held "age1q0m5e…" before`,
		Right: `$ meshc rotate database                           # and every other provision and need`,
	},
}
