package sink

import (
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/data"
)

// Env writes a struct of plain values as a file for systemd's EnvironmentFile=
// (systemd.exec(5), src/basic/env-file.c). A value that is more than a plain word stands in double
// quotes, where a backslash keeps " \ ` and $ and everything else is literal, line
// ends included; a POSIX shell that sources the file reads the same. Refused is what systemd
// drops: names that are no identifiers, zero bytes, noncharacters, a byte order
// mark. It is not the format of docker's and podman's --env-file, which EnvFile writes (O09).
func Env(v data.Value) ([]byte, error) {
	return writeEnv(v, func(b *strings.Builder, path []string, name, value string) error {
		if err := checkSystemdEnv(path, name, value); err != nil {
			return err
		}
		if strings.ContainsRune(value, 0xfeff) {
			return refuse(path, "holds a byte order mark, which systemd allows nowhere in such a file")
		}
		b.WriteString(name + "=" + quoteEnv(value) + "\n")
		return nil
	})
}

// quoteEnv writes a value for systemd's environment files and for a shell.
func quoteEnv(s string) string {
	if s != "" && only(s, isPlainWord) {
		return s
	}
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "`", "\\`", "$", `\$`).Replace(s) + `"`
}

// isPlainWord says whether a byte means itself in a word for systemd and for a shell. The
// tilde is none: a shell expands it behind a sign of equality.
func isPlainWord(c byte) bool {
	return isWordByte(c) || strings.IndexByte("./:@,+=%", c) >= 0
}

// maxEnvLine is how long a line may be for docker and podman, which read it with Go's
// bufio.Scanner and its standard buffer.
const maxEnvLine = 64*1024 - 1

// EnvFile writes a struct of plain values as a file for docker's and podman's --env-file.
// That format has no quoting at all: a value is what stands between the first = and
// the end of the line. So everything is literal, and a value with a line end is refused, or
// one that ends in a carriage return, which is taken for a part of the line's end.
func EnvFile(v data.Value) ([]byte, error) {
	return writeEnv(v, func(b *strings.Builder, path []string, name, value string) error {
		switch {
		case !containerEnvName(name):
			return refuse(path, "is no name for an environment variable: letters, digits and _ . - with a letter or _ first")
		case strings.ContainsRune(value, 0):
			return refuse(path, "holds a zero byte, which ends a string in every process")
		case strings.Contains(value, "\n"):
			return refuse(path, "holds a line end, which --env-file has no way to write")
		case strings.HasSuffix(value, "\r"):
			return refuse(path, "ends in a carriage return, which --env-file takes for a part of the line's end")
		case len(name)+1+len(value) >= maxEnvLine:
			return refuse(path, "is longer than the 64 kB of a line that --env-file reads")
		}
		b.WriteString(name + "=" + value + "\n")
		return nil
	})
}

// writeEnv goes through the variables; null leaves one out (SET-1).
func writeEnv(v data.Value, line func(b *strings.Builder, path []string, name, value string) error) ([]byte, error) {
	if v.Kind() != data.Struct {
		return nil, refuse(nil, "is "+withArticle(v.Kind())+", and an environment is names with values")
	}
	var b strings.Builder
	for _, f := range v.Fields() {
		path := []string{f.Name}
		if f.Value.Kind() == data.Null {
			continue
		}
		text, err := scalar(path, f.Value)
		if err != nil {
			return nil, err
		}
		if err := line(&b, path, f.Name, text); err != nil {
			return nil, err
		}
	}
	return []byte(b.String()), nil
}

func checkSystemdEnv(path []string, name, value string) error {
	if !envName(name) {
		return refuse(path, "is no name for an environment variable: letters, digits and _ with no digit first")
	}
	if reason := systemdText(value); reason != "" {
		return refuse(path, reason)
	}
	return checkWord(path, name+"="+value)
}

// checkWord refuses what the kernel does not hand to a process.
func checkWord(path []string, word string) error {
	if len(word) > maxWord {
		return refuse(path, "is longer than the 128 kB that Linux hands to a process in one piece")
	}
	return nil
}

// scalarText says whether a string is UTF-8 without control characters.
func scalarText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
}
