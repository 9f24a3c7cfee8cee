package show

import (
	"io"
	"net/url"
	"path"
	"slices"

	"meshc.dev/compiler/diag"
)

// sarifPrinter writes SARIF 2.1.0, which code scanning services read:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type sarifPrinter struct {
	Options
	known lookup
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               diag.Code       `json:"id"`
	ShortDescription *sarifText      `json:"shortDescription,omitempty"`
	FullDescription  *sarifText      `json:"fullDescription,omitempty"`
	Help             sarifText       `json:"help"`
	Properties       sarifProperties `json:"properties"`
}

type sarifProperties struct {
	Tags []string `json:"tags"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       diag.Code         `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	ID       int           `json:"id,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifText    `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI       string `json:"uri"`
	URIBaseID string `json:"uriBaseId"`
}

// sarifRegion counts characters (the run's columnKind), its end exclusive.
type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

func (p sarifPrinter) Print(w io.Writer, l diag.List) error {
	l = l.Sorted()
	src := newSources(p.Read)
	prints := fingerprints{}
	rules := p.rules(l)
	results := []sarifResult{}
	for _, d := range l {
		r := sarifResult{
			RuleID:       d.Code,
			RuleIndex:    slices.IndexFunc(rules, func(r sarifRule) bool { return r.ID == d.Code }),
			Level:        d.Severity().String(),
			Message:      sarifText{sarifMessage(d)},
			Locations:    []sarifLocation{},
			Fingerprints: map[string]string{"meshc/v1": prints.of(d)},
		}
		if d.At.IsValid() {
			r.Locations = append(r.Locations, sarifLocation{Physical: p.physical(src, d.At)})
		}
		for i, n := range d.Also {
			if n.At.IsValid() {
				r.Related = append(r.Related, sarifLocation{i + 1, p.physical(src, n.At), &sarifText{n.Text}})
			}
		}
		results = append(results, r)
	}
	return writeJSON(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs: []sarifRun{{
			Tool:       sarifTool{sarifDriver{"meshc", p.Version, "https://meshc.dev", rules}},
			ColumnKind: "unicodeCodePoints",
			Results:    results,
		}},
	})
}

// rules describes the codes that the list has, in order.
func (p sarifPrinter) rules(l diag.List) []sarifRule {
	var codes []diag.Code
	for _, d := range l {
		codes = append(codes, d.Code)
	}
	slices.Sort(codes)
	out := []sarifRule{}
	for _, c := range slices.Compact(codes) {
		r := sarifRule{ID: c, Help: sarifText{"meshc explain " + string(c)}, Properties: sarifProperties{[]string{}}}
		if info, ok := p.known(c); ok {
			r.ShortDescription = &sarifText{info.Title}
			if info.Explain != "" {
				r.FullDescription = &sarifText{info.Explain}
			}
			r.Properties.Tags = []string{info.Rule}
		}
		out = append(out, r)
	}
	return out
}

// sarifMessage is the message, the notes that have no place of their own, and the help.
func sarifMessage(d diag.Diagnostic) string {
	d.Also = slices.DeleteFunc(slices.Clone(d.Also), func(n diag.Note) bool { return n.At.IsValid() })
	if s := plain(d); s != "" {
		return s
	}
	return string(d.Code)
}

func (p sarifPrinter) physical(src *sources, at diag.Pos) sarifPhysical {
	// url.URL puts "./" before a first segment with a colon, which would be read as a scheme
	uri := (&url.URL{Path: path.Join(p.Prefix, at.File)}).String()
	out := sarifPhysical{Artifact: sarifArtifact{uri, "%SRCROOT%"}}
	if at.Line < 1 {
		return out
	}
	column, end := src.characters(at)
	out.Region = &sarifRegion{StartLine: at.Line, StartColumn: column}
	if end > 0 {
		out.Region.EndLine, out.Region.EndColumn = max(at.Line, at.EndLine), end
	}
	return out
}
