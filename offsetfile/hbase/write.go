package hbase

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/rest"
)

// Write makes one request for each edit, many at a time.
func (t *table) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	for _, e := range edits {
		if err := t.row.check(group, e.Topic); err != nil {
			return err
		}
	}
	if t.o.Create {
		if err := t.create(ctx); err != nil {
			return err
		}
	}
	for i := range edits {
		edits[i].Err = errNotTried
	}
	err := offsetfile.Each(ctx, len(edits), rest.MostConnections, func(ctx context.Context, i int) error {
		edits[i].Err = t.write(ctx, group, &edits[i])
		return nil
	})
	for i := range edits {
		if errors.Is(edits[i].Err, errNotTried) {
			edits[i].Err = err
		}
	}
	return nil
}

var errNotTried = errors.New("not tried")

// create makes the table if it is not there.
func (t *table) create(ctx context.Context) error {
	missing, err := t.missing(ctx)
	switch {
	case err != nil || missing == nil:
		return err
	case missing.Hint != "":
		return missing
	}
	_, err = t.gateway.do(ctx, http.MethodPut, "/schema", map[string]any{
		"name": t.layout.table, "ColumnSchema": []any{map[string]string{"name": t.family}},
	}, nil)
	return err
}

// write makes one edit. The last cell of the request is the one that is compared.
func (t *table) write(ctx context.Context, group string, e *offsetfile.Edit) error {
	column := []byte(t.column(e.Partition))
	old := cell{Column: column, Value: []byte{}} // none
	if e.Old != nil {
		value, err := base64.StdEncoding.DecodeString(e.Old.Version)
		if err != nil {
			return fmt.Errorf("partition %d was read from another kind of store: %w", e.Partition, err)
		}
		old.Value = value
	}
	what, cells := "delete", []cell{old}
	if e.New != nil {
		value, err := t.value(e.New.Text)
		if err != nil {
			return err
		}
		e.New.Version = version(value)
		what, cells = "put", []cell{{Column: column, Value: value}, old}
	}
	done, err := t.gateway.checkAnd(ctx, what, t.row.key(group, e.Topic), cells...)
	switch {
	case isStatus(err, http.StatusNotFound):
		return t.gone(ctx, err)
	case err == nil && !done:
		return fmt.Errorf("partition %d: %w", e.Partition, offsetfile.ErrChanged)
	}
	return err
}

// gone says what was not there when something was to be written.
func (t *table) gone(ctx context.Context, err error) error {
	missing, schemaErr := t.missing(ctx)
	if schemaErr == nil && missing != nil {
		return missing
	}
	return err
}
