package redis

import (
	"context"
	"fmt"
	"slices"

	redigo "github.com/gomodule/redigo/redis"

	"gtoffset/offsetfile"
)

// compareAndSet takes, for each edit, the number of its key, the field, the old value and the new one: "" for none, else = and the
// value. It answers with the numbers of the edits whose old value does not stand; if there is one, nothing is changed. Rights are
// looked at first, as an error midway would leave what was done before it.
const compareAndSet = `
local changed = {}
for i = 1, #ARGV, 4 do
  local key, field, new = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 3]
  local now = redis.call('HGET', key, field)
  if (now and '=' .. now or '') ~= ARGV[i + 2] then
    changed[#changed + 1] = (i - 1) / 4
  end
  if redis.acl_check_cmd then
    local command = new == '' and 'HDEL' or 'HSET'
    if not redis.acl_check_cmd(command, key, field, new) then
      return redis.error_reply('NOPERM ' .. command .. ' is not allowed to this user')
    end
  end
end
if #changed == 0 then
  for i = 1, #ARGV, 4 do
    local key, field, new = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 3]
    if new == '' then
      redis.call('HDEL', key, field)
    else
      redis.call('HSET', key, field, string.sub(new, 2))
    end
  end
end
return changed`

// call is one run of the script.
type call struct {
	keys  []string
	edits []int // their numbers in the save
	args  []any
}

func (c *call) command() command {
	args := []any{compareAndSet, len(c.keys)}
	for _, key := range c.keys {
		args = append(args, key)
	}
	return command{key: c.keys[0], name: "EVAL", args: append(args, c.args...)}
}

func (t *table) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	if err := t.nothing(ctx); err != nil {
		return err
	}
	calls := t.calls(group, edits)
	commands := make([]command, len(calls))
	for i, one := range calls {
		commands[i] = one.command()
	}
	var replies []reply
	err := t.request(ctx, fmt.Sprintf("EVAL of %d changes in %d calls", len(edits), len(calls)), func() (err error) {
		replies, err = t.do(ctx, false, commands)
		return err
	})
	if err != nil {
		return t.explain(err)
	}
	for i, one := range calls {
		changed, err := redigo.Int64s(replies[i].value, replies[i].err)
		if err != nil {
			err = t.explainWrite(err)
		}
		for j, of := range one.edits {
			edits[of].Err = err
			if len(changed) > 0 {
				edits[of].Err = t.changed(edits, one, changed, j)
			}
		}
		if err == nil && len(changed) == 0 {
			t.known.Store(true)
		}
	}
	return nil
}

// calls groups the edits: all in one, or by key in a cluster, where a script has only keys of one server.
func (t *table) calls(group string, edits []offsetfile.Edit) []call {
	var calls []call
	at := map[string]int{} // by key
	for i, e := range edits {
		key := t.form.key(name{e.Topic, group})
		n, ok := at[key]
		if !ok {
			if n = 0; t.kind == cluster || len(calls) == 0 {
				n = len(calls)
				calls = append(calls, call{})
			}
			at[key] = n
			calls[n].keys = append(calls[n].keys, key)
		}
		c := &calls[n]
		c.edits = append(c.edits, i)
		c.args = append(c.args, slices.Index(c.keys, key)+1, e.Partition, held(e.Old), held(e.New))
	}
	return calls
}

// held writes a value for the script.
func held(c *offsetfile.Cell) string {
	if c == nil {
		return ""
	}
	return "=" + c.Text
}

// changed is the error of an edit in a call that was refused because of what others have changed.
func (t *table) changed(edits []offsetfile.Edit, c call, changed []int64, edit int) error {
	if slices.Contains(changed, int64(edit)) {
		return fmt.Errorf("partition %d: %w", edits[c.edits[edit]].Partition, offsetfile.ErrChanged)
	}
	first := edits[c.edits[changed[0]]]
	return fmt.Errorf("nothing was saved, because of partition %d of %s: %w", first.Partition, first.Topic, offsetfile.ErrChanged)
}
