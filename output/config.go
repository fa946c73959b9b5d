package output

import (
	"io"
	"strings"
)

// ConfigSchema is the schema of what is in force.
const ConfigSchema = "gtoffset.config/1"

// Config is what `config` shows: settings, and where they come from.
type Config struct {
	User     string // who logs in; "" if nobody does, or it is not known
	Settings []ConfigSetting
	Unused   []ConfigSetting // known to other programs; their values are not shown
	Notes    []string
}

// ConfigSetting is one setting. The value of a secret is never written.
type ConfigSetting struct {
	Key, Value, Source string
	Secret             bool
	Over               []string // where it was set, too, and did not count
}

// Write writes the view as table, json or yaml.
func (v Config) Write(s Stream, f Format) error { return inThree(s, f, v.text, v.json) }

func (v Config) json(w io.Writer) error { return writeJSON(w, v.document()) }

func (v Config) text(s Stream) error {
	g := Grid{Columns: []Column{{Name: "SETTING"}, {Name: "VALUE"}, {Name: "FROM"}}}
	for _, x := range v.Settings {
		value, source := x.Value, x.Source
		switch {
		case x.Secret:
			value = "(hidden)"
		case value == "":
			value = `""`
		case strings.Contains(value, "-----BEGIN "):
			value = "(PEM)"
		}
		if len(x.Over) > 0 {
			source += ", over " + strings.Join(x.Over, ", ")
		}
		g.Rows = append(g.Rows, []string{x.Key, value, source})
	}
	if err := g.Write(s); err != nil {
		return err
	}
	p := &printer{w: s.W}
	if v.User != "" {
		p.printf("\nlogs in as %s\n", cleanText(v.User))
	}
	if len(v.Unused) > 0 {
		names := make([]string, len(v.Unused))
		for i, x := range v.Unused {
			names[i] = x.Key + " (" + x.Source + ")"
		}
		p.printf("\nnot used: %s\n", cleanText(strings.Join(names, ", ")))
	}
	for _, n := range v.Notes {
		p.printf("note: %s\n", cleanText(n))
	}
	return p.err
}

type configDocument struct {
	Schema   string                  `json:"schema"`
	User     *string                 `json:"user"`
	Settings []configSettingDocument `json:"settings"`
	Unused   []configUnusedDocument  `json:"unused"`
	Notes    []string                `json:"notes"`
}

type configSettingDocument struct {
	Key    string   `json:"key"`
	Value  *string  `json:"value"`
	Secret bool     `json:"secret"`
	Source string   `json:"source"`
	Over   []string `json:"over"`
}

type configUnusedDocument struct {
	Key    string `json:"key"`
	Source string `json:"source"`
}

func (v Config) document() configDocument {
	doc := configDocument{
		Schema: ConfigSchema, User: textOrNull(v.User), Settings: []configSettingDocument{}, Unused: []configUnusedDocument{}, Notes: append([]string{}, v.Notes...),
	}
	for _, x := range v.Settings {
		s := configSettingDocument{Key: x.Key, Value: &x.Value, Secret: x.Secret, Source: x.Source, Over: append([]string{}, x.Over...)}
		if x.Secret {
			s.Value = nil
		}
		doc.Settings = append(doc.Settings, s)
	}
	for _, x := range v.Unused {
		doc.Unused = append(doc.Unused, configUnusedDocument{x.Key, x.Source})
	}
	return doc
}
