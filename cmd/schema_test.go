package cmd_test

import (
	"sync"
	"testing"

	"gtoffset/scripts/schemas"
)

// strict are the schemas of documents, which take no field that is not in them. They are compiled once.
var strict = sync.OnceValues(func() (schemas.Set, error) { return schemas.Load("../docs/schema", true) })

// conforms holds a document against the schema that it names.
func conforms(t *testing.T, document []byte) {
	t.Helper()
	all, err := strict()
	must(t, err)
	if err := all.Check(document); err != nil {
		t.Errorf("%v\n%.2000s", err, document)
	}
}
