package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// counts are how tests ended.
type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// summary follows go test -v, one package at a time: go test prints them one after
// another, whatever runs at once.
type summary struct {
	out   io.Writer
	total counts

	// of the package being read
	lines   []said
	current string            // the test that is speaking
	ended   map[string]string // test to PASS, FAIL or SKIP
	started map[string]bool
	skipped []string
}

// said is a line of output and the test that printed it.
type said struct{ test, line string }

var (
	switchLine  = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME)\s+(\S+)`)
	resultLine  = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \([0-9.]+s\)$`)
	packageLine = regexp.MustCompile(`^(ok  |FAIL|\?   )\t\S+`)
	coverLine   = regexp.MustCompile(`^\t\S+\t+coverage: `)
)

func (s *summary) begin() {
	s.lines, s.current, s.skipped = nil, "", nil
	s.ended, s.started = map[string]string{}, map[string]bool{}
}

func (s *summary) line(line string) {
	text := strings.TrimRight(line, "\r\n")
	if m := switchLine.FindStringSubmatch(text); m != nil {
		s.current = m[2]
		if m[1] == "RUN" {
			s.started[m[2]] = true
			delete(s.ended, m[2]) // begun again, with -count
		}
		return
	}
	// a program under test may print such a line too: only a test that began can end
	if m := resultLine.FindStringSubmatch(text); m != nil && s.started[m[2]] && s.ended[m[2]] == "" {
		s.ended[m[2]] = m[1]
		switch m[1] {
		case "PASS":
			s.total.passed++
		case "FAIL":
			s.total.failed++
		case "SKIP":
			s.total.skipped++
			s.skipped = append(s.skipped, m[2])
		}
		s.lines = append(s.lines, said{m[2], text})
		s.current = ""
		return
	}
	switch {
	case packageLine.MatchString(text):
		s.end(text)
	case coverLine.MatchString(text), text == "PASS", text == "FAIL":
	default:
		s.lines = append(s.lines, said{s.current, text})
	}
}

// end prints a package that is through.
func (s *summary) end(text string) {
	if strings.HasPrefix(text, "FAIL") {
		s.failures()
	}
	for _, name := range s.skipped {
		fmt.Fprintf(s.out, "skipped %s: %s\n", name, s.reason(name))
	}
	if !strings.HasPrefix(text, "?") { // a package without tests is no news
		fmt.Fprintln(s.out, text)
	}
	s.begin()
}

// failures prints everything that failing tests said, and what nobody in particular
// did, such as a panic. A package that failed without a failing test counts as one.
func (s *summary) failures() {
	failed := false
	for _, how := range s.ended {
		failed = failed || how == "FAIL"
	}
	if !failed {
		s.total.failed++
	}
	for _, l := range s.lines {
		how, known := s.ended[l.test]
		if how == "FAIL" || !known {
			fmt.Fprintln(s.out, l.line)
		}
	}
}

// reason is what a skipped test said last.
func (s *summary) reason(name string) string {
	why := "no reason given"
	for _, l := range s.lines {
		if l.test == name && !resultLine.MatchString(l.line) {
			why = strings.TrimSpace(l.line)
		}
	}
	return why
}

// flush prints what is left when the output ends in the middle of a package.
func (s *summary) flush() {
	for _, l := range s.lines {
		fmt.Fprintln(s.out, l.line)
	}
}
