package lab

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress shows how far the runs are: a bar on a terminal, else a line for each run.
type progress struct {
	to       io.Writer
	terminal bool
	left     []*Cell
	total    int
	made     int
	// overhead is what a run took besides its own time, on average.
	overhead float64
	began    time.Time
}

func newProgress(to io.Writer, cells []*Cell, res *Results, overhead float64) *progress {
	p := &progress{to: to, overhead: overhead}
	for _, c := range cells {
		if res.find(c.Key()) == nil {
			p.left = append(p.left, c)
		}
	}
	p.total = len(p.left)
	if f, ok := to.(*os.File); ok {
		st, err := f.Stat()
		p.terminal = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// timeLeft is the estimate for all runs not made yet.
func (p *progress) timeLeft() time.Duration {
	var s float64
	for _, c := range p.left {
		s += float64(c.Seconds) + p.overhead + c.Table.Extra
	}
	return (time.Duration(s) * time.Second).Round(time.Second)
}

func (p *progress) begin(c *Cell) {
	p.began = time.Now()
	if p.terminal {
		const width = 24
		full := width * p.made / max(p.total, 1)
		p.printf("\r\x1b[K[%s%s] %d/%d, %v left: %s", strings.Repeat("#", full), strings.Repeat(".", width-full),
			p.made, p.total, p.timeLeft(), cellText(c))
	}
}

func cellText(c *Cell) string {
	name := c.Experiment.ID
	if c.Table.Name != "" {
		name += " " + c.Table.Name
	}
	return fmt.Sprintf("%s, %s, %d clients, round %d", name, c.Config.Name, c.Clients, c.Round+1)
}

func (p *progress) done(c *Cell, r *Run) {
	p.made++
	took := time.Since(p.began).Seconds() - float64(c.Seconds) - c.Table.Extra
	p.overhead += (max(took, 0) - p.overhead) / float64(p.made)
	for i, cell := range p.left {
		if cell == c {
			p.left = append(p.left[:i:i], p.left[i+1:]...)
			break
		}
	}
	if r.Error != "" {
		p.printf("%s%s: failed: %s\n", p.clear(), cellText(c), r.Error)
		return
	}
	if !p.terminal {
		p.printf("[%d/%d, %v left] %s: %s\n", p.made, p.total, p.timeLeft(), cellText(c), number(r.TPS))
	}
}

func (p *progress) clear() string {
	if p.terminal {
		return "\r\x1b[K"
	}
	return ""
}

func (p *progress) end() { p.printf("%s", p.clear()) }

// printf writes for people; where it cannot, the results are still the point.
func (p *progress) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.to, format, args...)
}
