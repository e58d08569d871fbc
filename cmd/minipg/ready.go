package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

type readyCmd struct {
	Metrics string        `name:"metrics-listen" default:"127.0.0.1:9187" placeholder:"HOST:PORT" help:"Address of the server's metrics page."`
	Timeout time.Duration `default:"2s" help:"How long to wait for the answer."`
}

// Run asks a server's /readyz: the exit status is 0 when it takes clients. It is for containers, in which there is
// no other program to ask with.
func (c *readyCmd) Run() error {
	host, port, err := net.SplitHostPort(c.Metrics)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // the server listens on all its addresses
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not ready: %s", resp.Status)
	}
	return nil
}
