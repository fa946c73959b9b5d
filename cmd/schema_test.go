package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are those of docs/schema by the names that documents give, so that no field may be in a document which is not in its
// schema. They are compiled once.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	paths, err := filepath.Glob("../docs/schema/*.json")
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no schemas: %w", err)
	}
	all := map[string]*jsonschema.Schema{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		shut(doc)
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
		all[s.Title] = s
	}
	return all, nil
})

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

// conforms holds a document against the schema that it names.
func conforms(t *testing.T, document []byte) {
	t.Helper()
	all, err := schemas()
	must(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Errorf("%v: %s", err, document)
		return
	}
	fields, _ := doc.(map[string]any)
	name, _ := fields["schema"].(string)
	if all[name] == nil {
		t.Errorf("docs/schema has none of the name %q: %.200s", name, document)
	} else if err := all[name].Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, document)
	}
}
