package diag

// Codes of reading a mesh and its modules.
const (
	NoMesh           Code = "E0101"
	Unreadable       Code = "E0102"
	TooLarge         Code = "E0103"
	NotUTF8          Code = "E0104"
	Syntax           Code = "E0105"
	PackageNames     Code = "E0106"
	UnknownImport    Code = "E0107"
	UnknownReference Code = "E0108"
	NotAMesh         Code = "E0109"
	NoNodes          Code = "E0110"
	UnknownField     Code = "E0111"
	MissingField     Code = "E0112"
	BadName          Code = "E0113"
	WrongKind        Code = "E0114"
	NotAllowed       Code = "E0115"
	SetTwice         Code = "E0116"
	Cycle            Code = "E0117"
	CUEFault         Code = "E0118"
	OtherCompiler    Code = "E0119"
	BadAddress       Code = "E0120"
	ModuleName       Code = "E0121"
	InterfaceTooLate Code = "E0122"
	DefaultStruct    Code = "E0123"
	ReplacedModule   Code = "W0124"
)

var loadCodes = []Info{
	{Code: NoMesh, Rule: "DIA-2", Title: "no mesh here"},
	{Code: Unreadable, Rule: "DIA-5", Title: "file cannot be read"},
	{Code: TooLarge, Rule: "DIA-5", Title: "too large to be a mesh"},
	{Code: NotUTF8, Rule: "DIA-5", Title: "not UTF-8"},
	{Code: Syntax, Rule: "DIA-2", Title: "not CUE"},
	{Code: PackageNames, Rule: "DIA-2", Title: "package name does not fit"},
	{Code: UnknownImport, Rule: "DIA-4", Title: "unknown import"},
	{Code: UnknownReference, Rule: "DIA-4", Title: "unknown reference"},
	{Code: NotAMesh, Rule: "DIA-2", Title: "package is not a mesh"},
	{Code: NoNodes, Rule: "DIA-2", Title: "mesh without nodes"},
	{Code: UnknownField, Rule: "DIA-4", Title: "unknown field"},
	{Code: MissingField, Rule: "DIA-1", Title: "missing field"},
	{Code: BadName, Rule: "BLD-7", Title: "not a name"},
	{Code: WrongKind, Rule: "DIA-4", Title: "wrong kind of value"},
	{Code: NotAllowed, Rule: "DIA-4", Title: "value not allowed"},
	{Code: SetTwice, Rule: "DIA-1", Title: "two different values"},
	{Code: Cycle, Rule: "DIA-5", Title: "value depends on itself"},
	{Code: CUEFault, Rule: "DIA-1", Title: "value cannot be computed"},
	{Code: OtherCompiler, Rule: "DIA-2", Title: "another meshc is asked for"},
	{Code: BadAddress, Rule: "PRT-7", Title: "not an address"},
	{Code: ModuleName, Rule: "DIA-2", Title: "module name does not fit"},
	{Code: InterfaceTooLate, Rule: "SEL-6", Title: "interface depends on what comes later"},
	{Code: DefaultStruct, Rule: "SET-1", Title: "default on a whole struct"},
	{Code: ReplacedModule, Rule: "DIA-2", Title: "built-in module replaced"},
}
