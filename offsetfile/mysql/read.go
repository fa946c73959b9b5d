package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// null stands for an offset that is NULL, with a version of its own, so that it is not the text.
const null = "NULL"

func (t *table) Groups(ctx context.Context) (groups, notes []string, err error) {
	s, err := t.look(ctx)
	if err != nil || !s.there {
		return nil, nil, err
	}
	began := time.Now()
	// As bytes: the column's collation may take different names for the same.
	rows, err := t.db.QueryContext(ctx, fmt.Sprintf("SELECT DISTINCT %s FROM %s", bytesOf(t.columns.group), quote(t.name)))
	defer func() { t.done("list groups", began, err) }()
	if err != nil {
		return nil, nil, t.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var group sql.NullString
		if err := rows.Scan(&group); err != nil {
			return nil, nil, err
		}
		if group.Valid {
			groups = append(groups, group.String)
		} else {
			notes = append(notes, fmt.Sprintf("%s has rows without a group, which were passed over", t.place()))
		}
	}
	return groups, notes, t.explain(rows.Err())
}

func (t *table) Read(ctx context.Context, group string, topics []string) (offsetfile.Found, error) {
	found := offsetfile.Found{Path: fmt.Sprintf("%s, group %s", t.place(), group)}
	s, err := t.look(ctx)
	if err != nil {
		return found, err
	}
	if err := t.checkNames(s, group, topics); err != nil {
		return found, err
	}
	if !s.there {
		found.Notes = append(found.Notes, t.place()+" is not there yet")
		return found, nil
	}
	if slices.Contains(withoutTransactions, s.engine) {
		found.Notes = append(found.Notes, fmt.Sprintf("%s is of engine %s, which has no transactions: it is not written to", t.place(), s.engine))
	}
	rows, err := t.rows(ctx, t.db, s, group, topics, "")
	if err != nil {
		return found, t.explain(err)
	}
	held, notes := t.cells(rows)
	found.Notes = append(found.Notes, notes...)
	if topics == nil {
		for topic := range held {
			topics = append(topics, topic)
		}
	}
	for _, topic := range topics {
		f := offsetfile.FoundTopic{Topic: topic, Path: fmt.Sprintf("%s, group %s, topic %s", t.place(), group, topic), Cells: held[topic]}
		if len(f.Cells) > 0 {
			f.Presence = offsets.Present
		}
		found.Topics = append(found.Topics, f)
	}
	return found, nil
}

func (t *table) checkNames(s *shape, group string, topics []string) error {
	if err := s.checkName("group", group, t.columns.group); err != nil {
		return err
	}
	for _, topic := range topics {
		if err := s.checkName("topic", topic, t.columns.topic); err != nil {
			return err
		}
	}
	return nil
}

// row is one row of a group.
type row struct {
	topic, partition, offset sql.NullString
	saved                    time.Time
}

// querier is the database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// rows reads the rows of a group: of these topics, or of all (nil). What the column's collation takes for the same name is left out.
func (t *table) rows(ctx context.Context, q querier, s *shape, group string, topics []string, lock string) (all []row, err error) {
	began := time.Now()
	defer func() { t.done("read the rows of group "+group, began, err) }()
	saved := null
	if c := t.columns.timestamp; c != "" {
		saved = quote(c)
		if slices.Contains(times, s.columns[strings.ToLower(c)].kind) {
			saved = fmt.Sprintf("CAST(UNIX_TIMESTAMP(%s) * 1000 AS SIGNED)", quote(c))
		}
	}
	c := t.columns
	query := fmt.Sprintf("SELECT %s, %s, %s, %s, %s FROM %s WHERE %s = ?",
		bytesOf(c.group), bytesOf(c.topic), quote(c.partition), quote(c.offset), saved, quote(t.name), quote(c.group))
	args := []any{group}
	asked := map[string]bool{}
	if len(topics) > 0 {
		query += fmt.Sprintf(" AND %s IN (?%s)", quote(c.topic), strings.Repeat(", ?", len(topics)-1))
		for _, topic := range topics {
			asked[topic] = true
			args = append(args, topic)
		}
	}
	rows, err := q.QueryContext(ctx, query+lock, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		var owner sql.NullString
		var at sql.NullInt64
		if err = rows.Scan(&owner, &r.topic, &r.partition, &r.offset, &at); err != nil {
			return nil, err
		}
		if at.Valid {
			r.saved = time.UnixMilli(at.Int64)
		}
		if owner.String == group && (topics == nil || asked[r.topic.String]) {
			all = append(all, r)
		}
	}
	err = rows.Err()
	return all, err
}

// bytesOf is a column's text as bytes of UTF-8, which only equal names share.
func bytesOf(column string) string {
	return fmt.Sprintf("CAST(CONVERT(%s USING utf8mb4) AS BINARY)", quote(column))
}

// cells makes cells of rows, by topic and partition. Several rows of one partition are a damaged cell, with the texts of all, and their
// number as its version.
func (t *table) cells(rows []row) (map[string]map[int32]offsetfile.Cell, []string) {
	held := map[string]map[int32]offsetfile.Cell{}
	texts := map[offsets.Key][]string{}
	passed := 0
	for _, r := range rows {
		p, ok := offsetfile.ParsePartition(r.partition.String)
		if !ok || !r.topic.Valid {
			passed++
			continue
		}
		cell := offsetfile.Cell{Text: r.offset.String, Saved: r.saved}
		if !r.offset.Valid {
			cell.Text, cell.Version = null, strconv.Quote(null)
		}
		key := offsets.Key{Topic: r.topic.String, Partition: p}
		texts[key] = append(texts[key], cell.Text)
		if all := texts[key]; len(all) > 1 {
			slices.Sort(all)
			cell.Text, cell.Version = strings.Join(all, ", "), strconv.Itoa(len(all))
			cell.Presence = offsets.Damaged
			cell.Reason = fmt.Sprintf("%s, topic %s, partition %d: there are %d rows (%s); a unique key would keep it at one",
				t.place(), key.Topic, p, len(all), cell.Text)
		}
		if held[key.Topic] == nil {
			held[key.Topic] = map[int32]offsetfile.Cell{}
		}
		held[key.Topic][p] = cell
	}
	if passed > 0 {
		return held, []string{fmt.Sprintf("%s: %s without a topic or a partition passed over", t.place(), offsets.Plural(passed, "row"))}
	}
	return held, nil
}

// rowsOf is how many rows a cell was read from.
func rowsOf(c *offsetfile.Cell) int {
	if c == nil {
		return 0
	}
	if n, err := strconv.Atoi(c.Version); err == nil {
		return n
	}
	return 1
}
