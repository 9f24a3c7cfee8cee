package diag

// Codes of settings and of working out what every node runs.
const (
	GroupsDisagree   Code = "E0201"
	UnknownSetting   Code = "E0202"
	MissingSetting   Code = "E0203"
	ClaimHeldTwice   Code = "E0204"
	UnknownModule    Code = "E0205"
	UnknownSite      Code = "E0206"
	UnknownGroup     Code = "E0207"
	SeveralModules   Code = "E0208"
	NothingAnswers   Code = "E0209"
	SeveralAnswers   Code = "E0210"
	PinElsewhere     Code = "E0211"
	PinUnknown       Code = "E0212"
	NoSharedNetwork  Code = "E0213"
	WhereTooLate     Code = "E0214"
	LicenceNotChosen Code = "E0215"
	OmittedButNeeded Code = "E0216"
	SameIdentity     Code = "E0217"
	NoMatch          Code = "E0218"
	ReservedName     Code = "E0219"
	TwoModules       Code = "E0220"
	SettingsNowhere  Code = "W0221"
	OmitNothing      Code = "W0222"
	PinUnused        Code = "W0223"
	SettingKept      Code = "E0224"
	LeftOutOptional  Code = "W0225"
	NetworkServes    Code = "E0226"
	SpeltPlaceholder Code = "E0227"
)

var resolveCodes = []Info{
	{Code: GroupsDisagree, Rule: "SET-4", Title: "groups disagree"},
	{Code: UnknownSetting, Rule: "SET-3", Title: "unknown setting"},
	{Code: MissingSetting, Rule: "SET-2", Title: "setting missing"},
	{Code: ClaimHeldTwice, Rule: "CLM-1", Title: "claim held twice"},
	{Code: UnknownModule, Rule: "DIA-4", Title: "unknown module"},
	{Code: UnknownSite, Rule: "DIA-4", Title: "unknown site"},
	{Code: UnknownGroup, Rule: "DIA-4", Title: "unknown group"},
	{Code: SeveralModules, Rule: "SEL-2", Title: "several modules could answer"},
	{Code: NothingAnswers, Rule: "SEL-5", Title: "nothing answers a requirement"},
	{Code: SeveralAnswers, Rule: "SCP-2", Title: "several could answer"},
	{Code: PinElsewhere, Rule: "SCP-3", Title: "pin at one that does not provide it"},
	{Code: PinUnknown, Rule: "SCP-3", Title: "pin at something unknown"},
	{Code: NoSharedNetwork, Rule: "SCP-5", Title: "no private network in common"},
	{Code: WhereTooLate, Rule: "SCP-8", Title: "condition on what is not known yet"},
	{Code: LicenceNotChosen, Rule: "LIC-1", Title: "licence not chosen"},
	{Code: OmittedButNeeded, Rule: "SEL-1", Title: "omitted, but something requires it"},
	{Code: SameIdentity, Rule: "SEL-11", Title: "two with one identity"},
	{Code: NoMatch, Rule: "SCP-8", Title: "no answer serves what is asked for"},
	{Code: ReservedName, Rule: "CON-5", Title: "reserved name"},
	{Code: TwoModules, Rule: "SEL-3", Title: "one instance of two modules"},
	{Code: SettingsNowhere, Rule: "SET-3", Title: "settings for a module that runs nowhere here"},
	{Code: OmitNothing, Rule: "SEL-1", Title: "omits what is not assigned"},
	{Code: PinUnused, Rule: "SCP-3", Title: "pin for what nobody asks for"},
	{Code: SettingKept, Rule: "SET-2", Title: "setting does not fit"},
	{Code: LeftOutOptional, Rule: "SEL-10", Title: "optional requirement left out"},
	{Code: NetworkServes, Rule: "SCP-5", Title: "network without a name"},
	{Code: SpeltPlaceholder, Rule: "SEC-10", Title: "text looks like a placeholder"},
}
