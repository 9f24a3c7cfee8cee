package diag

// Codes of what consumers and providers tell each other, and of resources.
const (
	NotAccepted       Code = "E0401"
	SameDerived       Code = "E0402"
	UnknownEndpoint   Code = "E0403"
	BindingCircle     Code = "E0404"
	NotKnown          Code = "E0405"
	NoCredentialPlace Code = "E0406"
	BadResource       Code = "E0420"
	SecretShows       Code = "E0421"
	SecretComputed    Code = "E0422"
	ResourceTwice     Code = "E0423"
	UnknownResource   Code = "E0424"
	UnknownListen     Code = "E0425"
)

var exchangeCodes = []Info{
	{Code: NotAccepted, Rule: "CON-10", Title: "contribution not accepted"},
	{Code: SameDerived, Rule: "CON-4", Title: "one name for two consumers"},
	{Code: UnknownEndpoint, Rule: "CON-6", Title: "endpoint is no listen"},
	{Code: BindingCircle, Rule: "CON-6", Title: "contributions in a circle"},
	{Code: NotKnown, Rule: "CON-4", Title: "value cannot be known"},
	{Code: NoCredentialPlace, Rule: "SEC-3", Title: "no place for a credential"},
	{Code: BadResource, Rule: "BLD-4", Title: "resource no machine could have"},
	{Code: SecretShows, Rule: "SEC-10", Title: "secret would show"},
	{Code: SecretComputed, Rule: "SEC-10", Title: "computed with a secret"},
	{Code: ResourceTwice, Rule: "CLM-3", Title: "one thing of a machine claimed twice"},
	{Code: UnknownResource, Rule: "SEL-7", Title: "unknown resource"},
	{Code: UnknownListen, Rule: "PRT-2", Title: "unknown listen"},
}
