package output

import (
	"testing"

	"gtoffset/kafkaops/offsets"
)

func TestMembers(t *testing.T) {
	keys := func(topic string, ps ...int32) (all []offsets.Key) {
		for _, p := range ps {
			all = append(all, offsets.Key{Topic: topic, Partition: p})
		}
		return all
	}
	s := snapshotOf(
		offsets.Group{
			ID: "billing", Existence: offsets.Exists, Type: offsets.Consumer, State: "Stable", Protocol: "consumer", Assignor: "uniform", Epoch: 7, Coordinator: 1, CoordinatorAddr: "kafka1:9092",
			Members: []offsets.Member{
				{ID: "5Qx0", ClientID: "billing-1", Host: "/10.0.0.5", InstanceID: "pod-0", Epoch: 7, Assigned: append(keys("orders", 0, 1, 2, 5), keys("payments", 0)...)},
				{ID: "7Ab1", ClientID: "billing-2\x1b[2J", Host: "/10.0.0.6", Epoch: 6},
			},
		},
		offsets.Group{ID: "connect", Existence: offsets.Exists, Type: offsets.Classic, State: "Stable", Protocol: "connect", Epoch: offsets.None, Coordinator: 2, Members: []offsets.Member{{ID: "w", ClientID: "worker", Epoch: offsets.None}}},
		offsets.Group{ID: "idle", Existence: offsets.Exists, Type: offsets.Simple, State: "Empty", Epoch: offsets.None, Coordinator: 3},
		offsets.Group{ID: "nobody", Existence: offsets.Missing, State: "Dead", Epoch: offsets.None, Coordinator: 3},
		offsets.Group{ID: "secret", State: "Unknown", Epoch: offsets.None, Coordinator: offsets.None, Trouble: &offsets.Trouble{Reason: "not allowed: DESCRIBE on group secret is missing", Denied: true}},
	)
	for name, v := range map[string]view{"members": GroupMembers{s}, "state": GroupStates{s}} {
		golden(t, name+".txt", drawn(t, v, Stream{}, Table))
		golden(t, name+"-80.txt", drawn(t, v, Stream{Width: 80}, Table))
		golden(t, name+"-wide.txt", drawn(t, v, Stream{}, Wide))
		golden(t, name+".json", drawn(t, v, Stream{}, JSON))
		golden(t, name+".csv", drawn(t, v, Stream{}, CSV))
		if err := v.Write(Plain(broken{}), Table); err == nil {
			t.Errorf("%s: no error from a broken pipe", name)
		}
		if err := v.Write(Plain(broken{}), Prom); err == nil {
			t.Errorf("%s as prom: no error", name)
		}
	}
}
