package lab

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Counters are the counters of the metrics page that experiments look at.
type Counters struct {
	// ProcSleeps are sleeps on the heavyweight lock of extensions, TableSleeps on the lock table.
	ProcSleeps  float64 `json:"proc_sleeps"`
	TableSleeps float64 `json:"table_sleeps"`
	// OtherSleeps are sleeps on every other heavyweight lock.
	OtherSleeps float64 `json:"other_sleeps"`
	Extends     float64 `json:"extends"`
	Blocks      float64 `json:"blocks"`
	FSMHits     float64 `json:"fsm_hits_after_wait"`
	LeafWaits   float64 `json:"leaf_waits"`
	HeapWaits   float64 `json:"heap_waits"`
	Relatches   float64 `json:"leaf_relatches"`
	MoveRights  float64 `json:"move_rights"`
	Splits      float64 `json:"splits"`
	WALBytes    float64 `json:"wal_bytes"`
}

// Sleeps are all sleeps of extensions.
func (c *Counters) Sleeps() float64 { return c.ProcSleeps + c.TableSleeps }

// minus is the growth since before.
func (c *Counters) minus(before *Counters) *Counters {
	return &Counters{
		ProcSleeps: c.ProcSleeps - before.ProcSleeps, TableSleeps: c.TableSleeps - before.TableSleeps,
		OtherSleeps: c.OtherSleeps - before.OtherSleeps, Extends: c.Extends - before.Extends,
		Blocks: c.Blocks - before.Blocks, FSMHits: c.FSMHits - before.FSMHits, LeafWaits: c.LeafWaits - before.LeafWaits,
		HeapWaits: c.HeapWaits - before.HeapWaits, Relatches: c.Relatches - before.Relatches,
		MoveRights: c.MoveRights - before.MoveRights, Splits: c.Splits - before.Splits, WALBytes: c.WALBytes - before.WALBytes,
	}
}

// scrape reads the metrics page.
func scrape(ctx context.Context, url string) (*Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return countersOf(families)
}

type page map[string]*dto.MetricFamily

// sum adds up the samples whose labels are as given ("name=value").
func (p page) sum(name string, labels ...string) float64 {
	var total float64
	for _, m := range p[name].GetMetric() {
		if hasLabels(m, labels) {
			total += m.GetCounter().GetValue() + m.GetUntyped().GetValue() + m.GetHistogram().GetSampleSum()
		}
	}
	return total
}

func hasLabels(m *dto.Metric, labels []string) bool {
	for _, want := range labels {
		name, value, _ := strings.Cut(want, "=")
		found := false
		for _, l := range m.GetLabel() {
			found = found || l.GetName() == name && l.GetValue() == value
		}
		if !found {
			return false
		}
	}
	return true
}

func countersOf(families map[string]*dto.MetricFamily) (*Counters, error) {
	p := page(families)
	for _, name := range []string{
		"minipg_proc_sleep_total", "minipg_extension_lock_sleep_total",
		"minipg_relation_extend_blocks", "minipg_latch_waits_total",
	} {
		if p[name] == nil {
			return nil, fmt.Errorf("the metrics page has no %s", name)
		}
	}
	extending := p.sum("minipg_proc_sleep_total", "locktype=extend")
	c := &Counters{
		ProcSleeps: extending, OtherSleeps: p.sum("minipg_proc_sleep_total") - extending,
		TableSleeps: p.sum("minipg_extension_lock_sleep_total"),
		Blocks:      p.sum("minipg_relation_extend_blocks"),
		FSMHits:     p.sum("minipg_extension_fsm_hits_after_wait_total"),
		LeafWaits:   p.sum("minipg_latch_waits_total", "class=btree_leaf"),
		HeapWaits:   p.sum("minipg_latch_waits_total", "class=heap"),
		Relatches:   p.sum("minipg_btree_leaf_relatches_total"),
		MoveRights:  p.sum("minipg_btree_move_rights_total"),
		Splits:      p.sum("minipg_btree_splits_total"),
		WALBytes:    p.sum("minipg_wal_bytes_total"),
	}
	for _, m := range p["minipg_relation_extend_blocks"].GetMetric() {
		c.Extends += float64(m.GetHistogram().GetSampleCount())
	}
	return c, nil
}
