package offsetfile

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"
)

func TestAccessListIsKept(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "g/t/gtoffset", "0 5\n")
	if err := syscall.Setxattr(path, accessList, aclBytes(), 0); err != nil {
		t.Skip("no access lists here: ", err)
	}
	save(t, open(t, root), "g", "t", map[int32]int64{0: 6})
	got := make([]byte, 100)
	n, err := syscall.Getxattr(path, accessList, got)
	if err != nil || !bytes.Equal(got[:n], aclBytes()) {
		t.Errorf("got %x, %v, want %x", got[:max(n, 0)], err, aclBytes())
	}
}

// aclBytes is an access list in the kernel's form: user::rw- user:1234:r-- group::--- mask::r-- other::---
func aclBytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, ^uint32(0)}, {2, 4, 1234}, {4, 0, ^uint32(0)}, {0x10, 4, ^uint32(0)}, {0x20, 0, ^uint32(0)}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}
