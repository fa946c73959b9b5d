package wire

// Addr is where a broker is reached, HOST:PORT; "" if the cluster has not named it.
func (c *Client) Addr(id int32) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodes[id]; n != nil {
		return n.addr
	}
	return ""
}
