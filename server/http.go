package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// ServeHTTP begins to serve /metrics, /livez and /readyz; it does not block. /readyz is 200
// only while clients are accepted, so it may be called before recovery.
func (s *Server) ServeHTTP() error {
	if s.cfg.HTTPAddr == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.cfg.Metrics.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, true) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.ready.Load()) })
	ln, err := net.Listen("tcp", s.cfg.HTTPAddr)
	if err != nil {
		return fmt.Errorf("could not listen for metrics: %w", err)
	}
	s.webLn = ln
	s.web = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	s.webLoop.Go(func() {
		if err := s.web.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Error("the metrics page stopped", zap.Error(err))
		}
	})
	return nil
}

func answer(w http.ResponseWriter, ok bool) {
	text := "ok\n"
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "not ready\n"
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return // the asker went away
	}
}

// HTTPAddress is where the metrics page is, nil if nowhere.
func (s *Server) HTTPAddress() net.Addr {
	if s.webLn == nil {
		return nil
	}
	return s.webLn.Addr()
}

// CloseHTTP stops the metrics page.
func (s *Server) CloseHTTP(ctx context.Context) error {
	if s.web == nil {
		return nil
	}
	err := s.web.Shutdown(ctx)
	s.webLoop.Wait()
	return err
}
