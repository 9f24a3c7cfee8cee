package sinktest

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EnvironmentFile reads a file as systemd's EnvironmentFile= does (systemd.exec(5),
// parse_env_file_internal in src/basic/env-file.c). What it would warn about and ignore is an error.
func EnvironmentFile(b []byte) (map[string]string, error) {
	env := map[string]string{}
	for s := string(b); ; {
		s = strings.TrimLeft(s, " \t\n\r")
		if s == "" {
			return env, nil
		}
		if strings.IndexByte("#;", s[0]) >= 0 {
			_, s, _ = strings.Cut(s, "\n")
			continue
		}
		end := strings.IndexAny(s, "=\n\r")
		if end < 0 || s[end] != '=' {
			return nil, fmt.Errorf("a line without =: %q", s)
		}
		name := strings.TrimRight(s[:end], " \t")
		value, rest, err := envValue(s[end+1:])
		if err != nil {
			return nil, err
		}
		if !isIdentifier(name) || !systemdUTF8(value) {
			return nil, fmt.Errorf("%q=%q is no assignment to systemd", name, value)
		}
		if _, twice := env[name]; twice {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		env[name] = value
		s = rest
	}
}

// envValue reads a value up to its line's end. Quotes count only before the first other
// character; behind a closing quote spaces are skipped and another part may follow.
func envValue(s string) (value, rest string, err error) {
	var b strings.Builder
	i, bare, end := 0, false, 0
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\n' || c == '\r':
			return b.String()[:end], s[i+1:], nil
		case c == '\\':
			bare = true
			if i++; i < len(s) && s[i] != '\n' && s[i] != '\r' {
				b.WriteByte(s[i])
			}
			end = b.Len()
		case !bare && c == '\'':
			n := strings.IndexByte(s[i+1:], '\'')
			if n < 0 {
				return "", "", fmt.Errorf("a quote is not closed")
			}
			b.WriteString(s[i+1 : i+1+n])
			i += n + 1
			end = b.Len()
		case !bare && c == '"':
			n, err := envDouble(&b, s[i+1:])
			if err != nil {
				return "", "", err
			}
			i += n
			end = b.Len()
		case c == ' ' || c == '\t':
			if bare {
				b.WriteByte(c)
			}
		default:
			bare = true
			b.WriteByte(c)
			end = b.Len()
		}
	}
	return b.String()[:end], "", nil
}

// envDouble reads up to a closing double quote and tells how much that was with the quote.
func envDouble(b *strings.Builder, s string) (int, error) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return i + 1, nil
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		default:
			i++
			switch {
			case strings.IndexByte("\"\\`$", s[i]) >= 0:
				b.WriteByte(s[i])
			case s[i] != '\n':
				b.WriteString(s[i-1 : i+1])
			}
		}
	}
	return 0, fmt.Errorf("a quote is not closed")
}

// EnvList reads a file as docker's and podman's --env-file do (opts/file.go of docker/cli, pkg/env
// of podman), which agree but for this: docker wants UTF-8 and no spaces in a name.
func EnvList(file []byte) (map[string]string, error) {
	env := map[string]string{}
	scanner := bufio.NewScanner(bytes.NewReader(file))
	for n := 0; scanner.Scan(); n++ {
		line := scanner.Text()
		if !utf8.ValidString(line) {
			return nil, fmt.Errorf("line %d is not UTF-8", n+1)
		}
		if n == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t") || strings.ContainsRune(line, 0) {
			return nil, fmt.Errorf("line %d is no assignment, or takes its value from outside", n+1)
		}
		env[name] = value
	}
	return env, scanner.Err()
}
