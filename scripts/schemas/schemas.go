// Package schemas holds documents against the JSON Schemas of docs/schema. It is for tests.
package schemas

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Set is schemas by the names that documents give.
type Set map[string]*jsonschema.Schema

// Load compiles the schemas of a folder: as they are, for readers, or strict, so that no field may be in a document which is not in its
// schema.
func Load(folder string, strict bool) (Set, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	switch {
	case err != nil:
		return nil, err
	case len(paths) == 0:
		return nil, fmt.Errorf("there are no schemas in %s", folder)
	}
	all := Set{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if strict {
			shut(doc)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		c.AssertContent()
		if err := c.AddResource(path, doc); err != nil {
			return nil, err
		}
		s, err := c.Compile(path)
		if err != nil {
			return nil, err
		}
		if name := "gtoffset." + strings.TrimSuffix(filepath.Base(path), "-1.json") + "/1"; s.Title != name || !slices.Contains(s.Required, "schema") || len(s.Properties) < 2 {
			return nil, fmt.Errorf("%s: its title has to be %q, and it has to require schema and name the other fields: what takes anything holds nothing", path, name)
		}
		all[s.Title] = s
	}
	return all, nil
}

// shut takes no other fields than are named, outside of conditions.
func shut(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, object := s["properties"]; object {
			s["additionalProperties"] = false
		}
		for name, below := range s {
			if name != "if" && name != "then" {
				shut(below)
			}
		}
	case []any:
		for _, below := range s {
			shut(below)
		}
	}
}

// Check holds a document against the schema that it names.
func (s Set) Check(document []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	fields, _ := doc.(map[string]any)
	name, _ := fields["schema"].(string)
	if s[name] == nil {
		return fmt.Errorf("there is no schema of the name %q", name)
	}
	return s[name].Validate(doc)
}
