package sinktest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Properties reads a file as java.util.Properties.load does. Bytes beyond ASCII are an error
// here, since what they mean depends on who opens the file.
func Properties(b []byte) (map[string]string, error) {
	for _, c := range b {
		if c >= 0x80 {
			return nil, fmt.Errorf("the file is not ASCII")
		}
	}
	out := map[string]string{}
	for _, line := range logicalLines(string(b)) {
		end, escaped := 0, false
		for end < len(line) && (escaped || strings.IndexByte("=: \t\f", line[end]) < 0) {
			escaped = !escaped && line[end] == '\\'
			end++
		}
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		key, err := loadConvert(line[:end])
		if err != nil {
			return nil, err
		}
		value, err := loadConvert(rest)
		if err != nil {
			return nil, err
		}
		out[key] = value
	}
	return out, nil
}

// logicalLines joins continued lines and drops comments and blank ones.
func logicalLines(s string) []string {
	var out []string
	pending, joined := "", false
	for _, l := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		l = strings.TrimLeft(l, " \t\f")
		if !joined && (l == "" || l[0] == '#' || l[0] == '!') {
			continue
		}
		joined = (len(l)-len(strings.TrimRight(l, `\`)))%2 == 1
		if joined {
			pending += l[:len(l)-1]
			continue
		}
		out, pending = append(out, pending+l), ""
	}
	if joined {
		out = append(out, pending)
	}
	return out
}

func loadConvert(s string) (string, error) {
	var units []uint16
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			units = append(units, uint16(s[i]))
			continue
		}
		i++
		switch s[i] {
		case 'u':
			if len(s) < i+5 {
				return "", fmt.Errorf("malformed \\uxxxx")
			}
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf("malformed \\uxxxx")
			}
			units = append(units, uint16(n))
			i += 4
		case 't':
			units = append(units, '\t')
		case 'r':
			units = append(units, '\r')
		case 'n':
			units = append(units, '\n')
		case 'f':
			units = append(units, '\f')
		default:
			units = append(units, uint16(s[i]))
		}
	}
	return string(utf16.Decode(units)), nil
}
