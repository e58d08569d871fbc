package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// resultsVersion is the format of results.json; another one is refused.
const resultsVersion = 1

// The files of an output directory.
const (
	resultsFile  = "results.json"
	markdownFile = "report.md"
	htmlFile     = "report.html"
	plotDir      = "plots"
	readingFile  = "README.md" // written by people
)

// Results are everything a report is made of.
type Results struct {
	Version     int         `json:"version"`
	Machine     Machine     `json:"machine"`
	Command     string      `json:"command"`
	Started     time.Time   `json:"started"`
	Settings    []Setting   `json:"settings"` // of every minipg
	PostgreSQL  *PostgreSQL `json:"postgresql,omitempty"`
	Notes       []string    `json:"notes,omitempty"`
	Planned     int         `json:"planned"`
	Interrupted bool        `json:"interrupted,omitempty"`
	Runs        []*Run      `json:"runs"`
}

// PostgreSQL is the other server.
type PostgreSQL struct {
	Version  string    `json:"version"`
	Settings []Setting `json:"settings"`
}

// Run is one measurement.
type Run struct {
	Experiment string    `json:"experiment"`
	Table      string    `json:"table,omitempty"`
	Config     string    `json:"config"`
	Clients    int       `json:"clients"`
	Round      int       `json:"round"`
	Start      time.Time `json:"start"`
	Seconds    float64   `json:"seconds"`
	// Shortened says why the run ended early.
	Shortened    string  `json:"shortened,omitempty"`
	TPS          float64 `json:"tps"`
	Transactions int64   `json:"transactions"`
	LatencyMS    float64 `json:"latency_ms,omitempty"`
	P50MS        float64 `json:"p50_ms,omitempty"`
	P99MS        float64 `json:"p99_ms,omitempty"`
	// CPUSeconds is what the server used; negative if it could not be told.
	CPUSeconds float64 `json:"cpu_seconds"`
	// Counters are the differences of the metrics over the run; nil where the server has none.
	Counters *Counters `json:"counters,omitempty"`
	// Blocks are the blocks by which relations grew.
	Blocks float64   `json:"blocks"`
	Extra  []Measure `json:"extra,omitempty"`
	Error  string    `json:"error,omitempty"`
}

// Measure is a figure that only one experiment has.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

func (r *Run) key() string { return runKey(r.Experiment, r.Table, r.Config, r.Clients, r.Round) }

// find returns the run of a cell, nil if it was not made or failed.
func (res *Results) find(key string) *Run {
	for _, r := range res.Runs {
		if r.key() == key && r.Error == "" {
			return r
		}
	}
	return nil
}

// put adds a run; it replaces a failed one of the same cell.
func (res *Results) put(r *Run) {
	for i, old := range res.Runs {
		if old.key() == r.key() {
			res.Runs[i] = r
			return
		}
	}
	res.Runs = append(res.Runs, r)
}

// Load reads the results of a directory.
func Load(dir string) (*Results, error) {
	data, err := os.ReadFile(filepath.Join(dir, resultsFile))
	if err != nil {
		return nil, err
	}
	var res Results
	if err := json.Unmarshal(data, &res); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, resultsFile), err)
	}
	if res.Version != resultsVersion {
		return nil, fmt.Errorf("%s has version %d, this lab reads %d", filepath.Join(dir, resultsFile), res.Version, resultsVersion)
	}
	return &res, nil
}

// save replaces results.json. Invariant 2.
func (res *Results) save(dir string) error {
	data, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, resultsFile), append(data, '\n'))
}

// writeFile replaces a file whole.
func writeFile(name string, data []byte) error {
	part := name + ".part"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return err
	}
	return os.Rename(part, name)
}

// openResults loads what an earlier run left where it is to be resumed, and refuses to overwrite it
// where not.
func openResults(o *Options) (*Results, error) {
	if err := os.MkdirAll(filepath.Join(o.Out, plotDir), 0o755); err != nil {
		return nil, err
	}
	res, err := Load(o.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Results{Version: resultsVersion, Started: time.Now().UTC().Truncate(time.Second)}, nil
	case err != nil:
		return nil, err
	case !o.Resume:
		return nil, fmt.Errorf("%s has results already: name another directory with --out, or go on with --resume", o.Out)
	}
	return res, nil
}
