package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// mostRows is how many rows one statement changes.
const mostRows = 1000

func (t *table) Write(ctx context.Context, group string, edits []offsetfile.Edit) (err error) {
	committing := false
	defer func() {
		if !committing && offsetfile.IsAway(err) {
			away := offsetfile.AwayError{Err: err}
			if told := new(offsetfile.AwayError); errors.As(err, &told) {
				away = *told
			}
			away.Undone, err = true, &away
		}
	}()
	s, err := t.writable(ctx)
	if err != nil {
		return err
	}
	tx, err := t.begin(ctx)
	if err != nil {
		return t.explain(err)
	}
	defer tx.end(ctx)
	topics := map[string][]*offsetfile.Edit{}
	for i := range edits {
		topics[edits[i].Topic] = append(topics[edits[i].Topic], &edits[i])
	}
	sorted := slices.Sorted(maps.Keys(topics))
	rows, err := t.rows(ctx, tx, s, group, sorted, " FOR UPDATE")
	if err != nil {
		return t.explain(err)
	}
	if err := t.compare(rows, edits); err != nil {
		return err
	}
	for _, topic := range sorted {
		if err := t.change(ctx, tx, s, group, topic, topics[topic]); err != nil {
			return t.explain(err)
		}
	}
	if t.o.Hook != nil {
		if err := t.o.Hook("commit"); err != nil {
			return err
		}
	}
	began := time.Now()
	committing = true
	err = tx.commit(ctx)
	t.done("commit", began, err)
	if err != nil && ctx.Err() != nil {
		return &offsetfile.AwayError{Err: err} // whether it was made is not known
	}
	return t.explain(err)
}

// transaction is one on a connection of its own. The library's has no context for its end: it would wait for a silent server.
type transaction struct {
	*sql.Conn
	over bool
}

// begin begins a transaction that locks also the gaps in which rows could be added.
func (t *table) begin(ctx context.Context) (*transaction, error) {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx := &transaction{Conn: conn}
	for _, s := range []string{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION"} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			tx.end(ctx)
			return nil, err
		}
	}
	return tx, nil
}

func (tx *transaction) commit(ctx context.Context) error {
	_, err := tx.ExecContext(ctx, "COMMIT")
	tx.over = err == nil
	return err
}

// end takes back what was not committed, and gives the connection back. One that cannot be told is closed: that takes back, too.
func (tx *transaction) end(ctx context.Context) {
	if !tx.over {
		if _, err := tx.ExecContext(ctx, "ROLLBACK"); err != nil {
			_ = tx.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	_ = tx.Close() // it is given back, or gone already
}

// writable looks at the table, and makes it if that was asked for.
func (t *table) writable(ctx context.Context) (*shape, error) {
	s, err := t.look(ctx)
	if err == nil && !s.there {
		if err := t.create(ctx); err != nil {
			return nil, t.explain(err)
		}
		if s, err = t.look(ctx); err == nil && !s.there {
			err = t.noTable()
		}
	}
	if err == nil && slices.Contains(withoutTransactions, s.engine) {
		err = fmt.Errorf("%s is of engine %s, which has no transactions: a save could stay half done (ALTER TABLE %s ENGINE=InnoDB)", t.place(), s.engine, quote(t.name))
	}
	return s, err
}

// compare looks whether the rows, which are locked now, are those that the edits rest on. If one is not, none is made.
func (t *table) compare(rows []row, edits []offsetfile.Edit) error {
	held, _ := t.cells(rows)
	for _, e := range edits {
		now, there := held[e.Topic][e.Partition]
		if there != (e.Old != nil) || there && (now.Text != e.Old.Text || now.Version != e.Old.Version) {
			return fmt.Errorf("nothing was saved, because of partition %d of %s: %w", e.Partition, e.Topic, offsetfile.ErrChanged)
		}
	}
	return nil
}

// change makes the edits of one topic.
func (t *table) change(ctx context.Context, tx *transaction, s *shape, group, topic string, edits []*offsetfile.Edit) error {
	var update, insert, remove []*offsetfile.Edit
	for _, e := range edits {
		if n := rowsOf(e.Old); n > 1 {
			if err := t.leaveOne(ctx, tx, group, topic, e, n); err != nil {
				return err
			}
		}
		switch {
		case e.New == nil:
			remove = append(remove, e)
		case e.Old == nil:
			insert = append(insert, e)
		default:
			update = append(update, e)
		}
	}
	for _, part := range []struct {
		what  string
		edits []*offsetfile.Edit
		build func(s *shape, group, topic string, edits []*offsetfile.Edit) (string, []any, error)
	}{
		{"delete", remove, t.deletion},
		{"update", update, t.update},
		{"insert", insert, t.insertion},
	} {
		for some := range slices.Chunk(part.edits, mostRows) {
			if err := t.run(ctx, tx, part.what, s, group, topic, some, part.build); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaveOne removes all but one of the rows of a partition: the one that was saved last stays.
func (t *table) leaveOne(ctx context.Context, tx *transaction, group, topic string, e *offsetfile.Edit, rows int) (err error) {
	began := time.Now()
	defer func() {
		t.done(fmt.Sprintf("leave one of %d rows of topic %s, partition %d", rows, topic, e.Partition), began, err)
	}()
	order := ""
	if c := t.columns.timestamp; c != "" {
		order = " ORDER BY " + quote(c)
	}
	where, args := t.where(group, topic, []*offsetfile.Edit{e})
	_, err = tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s%s%s LIMIT %d", quote(t.name), where, order, rows-1), args...)
	return err // were there others, the edit itself finds more rows than one, and is taken back
}

func (t *table) run(ctx context.Context, tx *transaction, what string, s *shape, group, topic string, edits []*offsetfile.Edit,
	build func(*shape, string, string, []*offsetfile.Edit) (string, []any, error),
) (err error) {
	began := time.Now()
	defer func() {
		t.done(fmt.Sprintf("%s %s of topic %s", what, offsets.Plural(len(edits), "row"), topic), began, err)
	}()
	statement, args, err := build(s, group, topic, edits)
	if err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n != int64(len(edits)) {
		err = fmt.Errorf("%s of %s changed %d rows instead of %d, and was taken back", what, t.place(), n, len(edits))
	}
	return err
}

func (t *table) deletion(_ *shape, group, topic string, edits []*offsetfile.Edit) (string, []any, error) {
	where, args := t.where(group, topic, edits)
	return fmt.Sprintf("DELETE FROM %s%s", quote(t.name), where), args, nil
}

func (t *table) update(s *shape, group, topic string, edits []*offsetfile.Edit) (string, []any, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "UPDATE %s SET %s = CASE %s", quote(t.name), quote(t.columns.offset), quote(t.columns.partition))
	for _, e := range edits {
		n, err := number(e)
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintf(&b, " WHEN %d THEN %d", e.Partition, n)
	}
	b.WriteString(" END")
	if c := t.columns.timestamp; c != "" {
		fmt.Fprintf(&b, ", %s = %s", quote(c), s.now(c))
	}
	where, args := t.where(group, topic, edits)
	b.WriteString(where)
	return b.String(), args, nil
}

func (t *table) insertion(s *shape, group, topic string, edits []*offsetfile.Edit) (string, []any, error) {
	c := t.columns
	names, more := []string{quote(c.topic), quote(c.group), quote(c.partition), quote(c.offset)}, ""
	if c.timestamp != "" {
		names, more = append(names, quote(c.timestamp)), ", "+s.now(c.timestamp)
	}
	var rows []string
	var args []any
	for _, e := range edits {
		n, err := number(e)
		if err != nil {
			return "", nil, err
		}
		rows = append(rows, fmt.Sprintf("(?, ?, %d, %d%s)", e.Partition, n, more))
		args = append(args, topic, group)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", quote(t.name), strings.Join(names, ", "), strings.Join(rows, ", ")), args, nil
}

// where finds exactly the rows of these edits: by the names as the column's collation compares them, for its index, and by their bytes.
func (t *table) where(group, topic string, edits []*offsetfile.Edit) (string, []any) {
	partitions := make([]string, len(edits))
	for i, e := range edits {
		partitions[i] = strconv.Itoa(int(e.Partition))
	}
	c := t.columns
	return fmt.Sprintf(" WHERE %s = ? AND %s = ? AND %s = ? AND %s = ? AND %s IN (%s)",
		quote(c.group), quote(c.topic), bytesOf(c.group), bytesOf(c.topic), quote(c.partition), strings.Join(partitions, ", ")), []any{group, topic, group, topic}
}

// number is the number to be written.
func number(e *offsetfile.Edit) (int64, error) {
	n, err := strconv.ParseInt(e.New.Text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("partition %d: %w", e.Partition, err)
	}
	return n, nil
}

// now is the time of a save, as the column holds times.
func (s *shape) now(column string) string {
	if slices.Contains(times, s.columns[strings.ToLower(column)].kind) {
		return "CURRENT_TIMESTAMP(3)"
	}
	return "CAST(UNIX_TIMESTAMP(CURRENT_TIMESTAMP(3)) * 1000 AS SIGNED)"
}
