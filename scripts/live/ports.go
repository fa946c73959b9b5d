package live

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// freePorts returns n different ports of 127.0.0.1 that nobody listens on. They lie below the range from which the kernel takes
// the ports of outgoing connections: one from that range can be taken by anybody's connection while its broker starts or is
// down, and a client that knocks at a dead broker there can end up connected to itself.
func freePorts(n int) ([]int, error) {
	const lowest = 10000
	first := 32768
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		_, _ = fmt.Sscan(string(text), &first) // unreadable: the usual value stands
	}
	var ports []int
	for try := 0; len(ports) < n && try < 1000; try++ {
		port := 0 // any
		if first >= lowest+1000 {
			port = lowest + rand.IntN(first-lowest)
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close() // all are held until all are found, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	if len(ports) < n {
		return nil, fmt.Errorf("find %d free ports on 127.0.0.1: found %d", n, len(ports))
	}
	return ports, nil
}
