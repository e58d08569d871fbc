package engine

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// bgwriterIdle is how many naps a background writer with nothing to do takes at a time.
const bgwriterIdle = 25

func (e *Engine) startBackground() {
	e.bg.run(e.runCheckpointer)
	e.bg.run(e.runBgwriter)
	e.vacuums.start()
}

// runBgwriter cleans buffers that will be victims soon, so that sessions need not.
func (e *Engine) runBgwriter(ctx context.Context) {
	naps := 1
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(naps) * e.opt.BgwriterDelay()):
		}
		written, err := e.pool.CleanSome(e.opt.BgwriterMaxPages())
		switch {
		case err != nil && !e.dead.Load():
			e.logger.Warn("background writer", zap.Error(err))
			naps = bgwriterIdle
		case written == 0:
			naps = min(naps+1, bgwriterIdle)
		default:
			e.cfg.Metrics.BlocksBackground.Add(int64(written))
			naps = 1
		}
	}
}
