package lab

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/minipg/minipg/lab/stats"
)

// number is a figure for people: three digits that say something, nothing for what is not known.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case a >= 99.95:
		return grouped(v)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a == 0:
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func grouped(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if v < 0 {
		return "-" + digits
	}
	return digits
}

func factor(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
		return ""
	}
	switch {
	case v >= 99.95:
		return grouped(v)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// WriteReports writes report.md, report.html and the plots of a directory. What somebody wrote about them, in
// README.md beside them, it leaves alone and points to.
func WriteReports(dir string, res *Results) error {
	_, err := os.Stat(filepath.Join(dir, readingFile))
	d, plots, err := makeReport(res, err == nil)
	if err != nil {
		return err
	}
	for name, svg := range plots {
		if err := writeFile(filepath.Join(dir, plotDir, name), svg); err != nil {
			return err
		}
	}
	return errors.Join(
		writeFile(filepath.Join(dir, markdownFile), d.toMarkdown()),
		writeFile(filepath.Join(dir, htmlFile), d.toHTML()),
	)
}

// reporter makes the document and collects the plots.
type reporter struct {
	res *Results
	// read says that there is a reading of the tables beside the report.
	read  bool
	doc   *document
	plots map[string][]byte
}

func makeReport(res *Results, read bool) (*document, map[string][]byte, error) {
	r := &reporter{res: res, read: read, doc: &document{title: "minipg-lab: the published experiments, rerun"}, plots: map[string][]byte{}}
	r.front()
	for _, e := range Experiments() {
		if err := r.experiment(e); err != nil {
			return nil, nil, err
		}
	}
	return r.doc, r.plots, nil
}

func (r *reporter) front() {
	res, m := r.res, r.res.Machine
	failed, shortened := 0, 0
	for _, run := range res.Runs {
		if run.Error != "" {
			failed++
		}
		if run.Shortened != "" {
			shortened++
		}
	}
	r.doc.add(
		paragraph(fmt.Sprintf("%d runs, begun %s. Each starts a server of its own on new data (PostgreSQL: on tables made anew), "+
			"warms it up, makes the tables anew, and then measures stock pgbench. Runs are ordered A B B A; the first "+
			"configuration is run once more in each round as a control.", len(res.Runs), res.Started.Format("2006-01-02 15:04 MST"))),
		paragraph(fmt.Sprintf("This machine has %d cores, and pgbench runs on them too: rows with more clients than that test how a "+
			"server bears oversubscription, not how it scales. The published figures come from other machines; "+
			"what can be compared is the shape: which column wins, and how throughput changes from row to row.", m.Cores)),
	)
	if r.read {
		r.doc.add(pointer{"What the tables show and why is said in", readingFile})
	}
	if res.Interrupted {
		r.doc.add(paragraph("Interrupted: not all runs were made."))
	}
	if failed > 0 || shortened > 0 {
		r.doc.add(paragraph(fmt.Sprintf("%d runs failed; %d ended early since they would have written over 4 GB (the lists of runs name them).",
			failed, shortened)))
	}
	r.doc.add(heading{2, "Machine and settings"}, machineGrid(res))
	r.doc.add(paragraph("Every minipg has " + settingsText(res.Settings) +
		"; what an experiment does not set is at its default."))
	if res.PostgreSQL != nil {
		r.doc.add(paragraph("Beside it: " + res.PostgreSQL.Version + ", with " + settingsText(res.PostgreSQL.Settings) + "."))
	}
	if len(res.Notes) > 0 {
		r.doc.add(bullets(res.Notes))
	}
	r.doc.add(code(res.Command))
	r.doc.add(heading{2, "How to read the tables"}, bullets{
		"TPS is the mean over the rounds with its standard deviation and 95 % interval (Student's t).",
		"The ratio is to the first configuration of the table, from runs of the same round (paired, on logarithms), with its 95 % interval.",
		"A difference is faster or slower if the interval leaves out 1 and it is larger than that of the control, which is the first " +
			"configuration against itself; otherwise it is noise. Of 20 differences between equals one passes the interval by chance.",
		"Sleeps are all sleeps on the lock of relation extension: ProcSleep under the heavyweight lock, sleeps on the lock table under the table.",
		"Blocks are those by which relations, their indexes and maps grew. CPU is the server's alone.",
	})
}

func machineGrid(res *Results) *grid {
	m := res.Machine
	g := &grid{head: []string{"", "machine"}, text: 2}
	g.row("processor", fmt.Sprintf("%s, %d cores", m.CPU, m.Cores))
	g.row("memory", grouped(float64(m.MemoryMB))+" MB")
	g.row("kernel", m.Kernel)
	for _, fs := range m.FileSystems {
		g.row(fs.Use, fmt.Sprintf("%s on %s (%s)", fs.Type, fs.Device, fs.Options))
	}
	g.row("pgbench", m.Pgbench)
	minipg := m.Go
	if m.Revision != "" {
		minipg += ", revision " + m.Revision
	}
	g.row("minipg", minipg)
	return g
}

func (r *reporter) experiment(e *Experiment) error {
	var tables []*aggregated
	for _, t := range e.Tables {
		if a := aggregate(r.res, e, t); len(a.columns) > 0 {
			tables = append(tables, a)
		}
	}
	if len(tables) == 0 {
		return nil
	}
	r.doc.add(heading{2, e.ID + ": " + e.Title}, paragraph(e.Question), paragraph("Published: "+e.Published))
	for _, a := range tables {
		if err := r.table(e, a); err != nil {
			return err
		}
	}
	r.doc.add(r.runs(e, tables))
	return nil
}

func (r *reporter) table(e *Experiment, a *aggregated) error {
	t := a.table
	if t.Name != "" {
		r.doc.add(heading{3, t.Name})
	}
	if reading := readings(a); len(reading) > 0 {
		r.doc.add(bullets(reading))
	}
	if err := r.figures(e, a); err != nil {
		return err
	}
	r.doc.add(throughput(a), details(a).trim())
	if g := extras(a); g != nil {
		r.doc.add(g)
	}
	if g := retentionGrid(a); g != nil {
		r.doc.add(paragraph(fmt.Sprintf("Throughput against the peak of the same configuration (at least %.2f by the lower bound is asked of the default):",
			minRetention)), g)
	}
	r.doc.add(how(a))
	if t.NoPostgreSQL != "" && r.res.PostgreSQL != nil {
		r.doc.add(paragraph("PostgreSQL is not here: " + t.NoPostgreSQL + "."))
	}
	return nil
}

// unit names what throughput is counted in.
func (t *Table) unit() string {
	if t.Unit != "" {
		return t.Unit
	}
	return "TPS"
}

func throughput(a *aggregated) *grid {
	g := &grid{head: []string{
		"clients", "configuration", a.table.unit(), "sd", "95 % interval", "ratio", "95 % interval", "difference",
		"published", "published ratio", "published ProcSleep",
	}, text: 2}
	for _, clients := range a.clients {
		for i, c := range a.columns {
			if len(c.rounds(clients)) == 0 {
				continue
			}
			s := c.tps(clients)
			row := []string{strconv.Itoa(clients), c.config.Name, number(s.Mean), "", "", "", "", ""}
			if s.N > 1 {
				row[3], row[4] = number(s.SD), number(max(s.Low, 0))+" - "+number(s.High)
			}
			if d := a.difference(c, clients); i > 0 && d.Pairs > 0 {
				row[5] = factor(d.Ratio)
				if d.Known() {
					row[6] = factor(d.Low) + " - " + factor(d.High)
					row[7] = string(judge(a, c, clients))
				}
			}
			g.row(append(row, published(a, c, clients)...)...)
		}
	}
	return g.trim()
}

// judge is the verdict on a column; the control cannot be compared with itself.
func judge(a *aggregated, c *column, clients int) stats.Verdict {
	control := a.control(clients)
	if c.config.control {
		control = stats.Difference{}
	}
	return stats.Judge(a.difference(c, clients), control)
}

func published(a *aggregated, c *column, clients int) []string {
	cells := []string{"", "", ""}
	f, ok := c.config.Published[clients]
	if !ok {
		return cells
	}
	cells[0] = number(f.TPS)
	if first, ok := a.table.Configs[0].Published[clients]; ok && c.config.Name != a.table.Configs[0].Name {
		cells[1] = factor(f.TPS / first.TPS)
	}
	if f.Sleeps > 0 {
		cells[2] = number(f.Sleeps)
	}
	return cells
}

// details are sleeps, latencies and CPU time.
func details(a *aggregated) *grid {
	g := &grid{head: []string{
		"clients", "configuration", "ProcSleep / 1,000 tx", "table sleeps / 1,000 tx", "sleeps / 1,000 blocks", "blocks / extension",
		"blocks / 1,000 tx", "FSM hits after wait / 1,000 tx", "leaf waits / 1,000 tx", "relatches / 1,000 tx", "moves right / 1,000 tx",
		"p50 ms", "p99 ms", "CPU ms / tx",
	}, text: 2}
	if a.table.measure != nil {
		g.head[len(g.head)-1] = "CPU ms / 1,000,000"
	}
	for _, clients := range a.clients {
		for _, c := range a.columns {
			if len(c.rounds(clients)) == 0 {
				continue
			}
			per := func(scale float64, top, bottom func(*Run) (float64, bool)) string {
				return number(c.ratio(clients, scale, top, bottom))
			}
			row := []string{strconv.Itoa(clients), c.config.Name}
			if a.table.measure != nil {
				row = append(row, make([]string, 11)...)
				g.row(append(row, per(1e9, cpuOf, transactionsOf))...)
				continue
			}
			if a.table.Sleeps == ExtensionSleeps {
				row = append(row, per(1000, procSleepsOf, transactionsOf), per(1000, tableSleepsOf, transactionsOf),
					per(1000, sleepsOf, blocksOf), per(1, blocksOf, extendsOf), per(1000, blocksOf, transactionsOf),
					per(1000, fsmHitsOf, transactionsOf), "", "", "")
			} else {
				row = append(row, "", "", "", "", "", "",
					per(1000, leafWaitsOf, transactionsOf), per(1000, relatchesOf, transactionsOf), per(1000, rightsOf, transactionsOf))
			}
			g.row(append(row, per(1, p50Of, one), per(1, p99Of, one), per(1000, cpuOf, transactionsOf))...)
		}
	}
	return g
}

// extras are the figures only this experiment has, means over the rounds.
func extras(a *aggregated) *grid {
	g := &grid{head: []string{"clients", "configuration"}, text: 2}
	for _, clients := range a.clients {
		for _, c := range a.columns {
			runs := c.rounds(clients)
			if len(runs) == 0 || len(runs[0].Extra) == 0 {
				continue
			}
			row := []string{strconv.Itoa(clients), c.config.Name}
			for i, m := range runs[0].Extra {
				if len(g.head) < 3+i {
					g.head = append(g.head, m.Name)
				}
				row = append(row, number(meanExtra(runs, m.Name)))
			}
			g.row(row...)
		}
	}
	if len(g.rows) == 0 {
		return nil
	}
	return g
}

func meanExtra(runs []*Run, name string) float64 {
	var values []float64
	for _, r := range runs {
		for _, m := range r.Extra {
			if m.Name == name {
				values = append(values, m.Value)
			}
		}
	}
	return stats.Summarize(values).Mean
}

// retentionGrid shows how throughput holds as clients are added; nil where there is one count only.
func retentionGrid(a *aggregated) *grid {
	if a.table.measure != nil || a.table.Workload.after != nil || a.table.Workload.CountClients != nil {
		return nil
	}
	g := &grid{head: []string{"configuration", "peak at"}, text: 1}
	for _, clients := range a.clients {
		g.head = append(g.head, fmt.Sprintf("at %d", clients))
	}
	for _, c := range a.columns {
		list := c.retentions()
		if list == nil || c.config.control {
			continue
		}
		row := []string{c.config.Name, strconv.Itoa(list[0].peak)}
		for _, clients := range a.clients {
			row = append(row, retentionCell(list, clients))
		}
		g.row(row...)
	}
	if len(g.rows) == 0 {
		return nil
	}
	return g
}

func retentionCell(list []retention, clients int) string {
	for _, r := range list {
		if r.clients != clients {
			continue
		}
		if r.clients == r.peak || !r.difference.Known() {
			return factor(r.difference.Ratio)
		}
		return fmt.Sprintf("%s (%s)", factor(r.difference.Ratio), factor(r.difference.Low))
	}
	return ""
}

// how says what the clients did and what each configuration is.
func how(a *aggregated) part {
	t := a.table
	var parts []part
	if w := t.Workload; w != nil {
		whose := "as published"
		if w.Ours {
			whose = "ours, since the list does not give it"
		}
		threads := "as many threads as cores"
		if w.ThreadPerClient {
			threads = "a thread for each client"
		}
		session := ""
		if len(w.Session) > 0 {
			session = ", with " + settingsText(w.Session)
		}
		parts = append(parts, paragraph(fmt.Sprintf("The script is %s; pgbench -M %s, %s%s.", whose, w.Protocol, threads, session)),
			code(strings.Join(shortList(w.Create(min(4, a.clients[len(a.clients)-1]))), ";\n")+";\n\n"+strings.TrimSpace(w.Script)))
	}
	g := &grid{head: []string{"configuration", "settings"}, text: 2}
	for _, c := range a.columns {
		text := settingsText(c.config.Settings)
		switch {
		case c.config.postgres:
			text = "its own"
		case c.config.Default:
			text = "all at their defaults"
		case c.config.Stall:
			text += fmt.Sprintf("; growth in tablespace A delayed by %v", stallTime)
		}
		g.row(c.config.Name, text)
	}
	return folded{"Script and settings", append(parts, g)}
}

func shortList(sql []string) []string {
	if len(sql) > 4 {
		return append(sql[:4:4], "...")
	}
	return sql
}

func (r *reporter) figures(e *Experiment, a *aggregated) error {
	name := strings.ToLower(e.ID)
	for i, t := range e.Tables {
		if t == a.table && len(e.Tables) > 1 {
			name += fmt.Sprintf("-%d", i+1)
		}
	}
	var tps, waits []series
	for _, c := range a.columns {
		if c.config.control {
			continue
		}
		t := series{name: c.config.Name, dashed: c.config.postgres}
		w := series{name: c.config.Name}
		for _, clients := range a.clients {
			s := c.tps(clients)
			if s.N == 0 {
				s.Mean = math.NaN()
			}
			t.values = append(t.values, s.Mean)
			if s.N < 2 {
				s.Low = math.NaN()
			}
			t.low, t.high = append(t.low, s.Low), append(t.high, s.High)
			if a.table.Sleeps == LeafWaits {
				w.values = append(w.values, c.ratio(clients, 1000, leafWaitsOf, transactionsOf))
			} else {
				w.values = append(w.values, c.sleepsPerBlock(clients))
			}
		}
		tps = append(tps, t)
		if !c.config.postgres {
			waits = append(waits, w)
		}
	}
	if err := r.plot(name+"-tps.svg", a.table.unit(), e, a.clients, tps); err != nil {
		return err
	}
	switch a.table.Sleeps {
	case ExtensionSleeps:
		return r.plot(name+"-sleeps.svg", "sleeps per 1,000 blocks", e, a.clients, waits)
	case LeafWaits:
		return r.plot(name+"-waits.svg", "leaf latch waits per 1,000 transactions", e, a.clients, waits)
	}
	return nil
}

func (r *reporter) plot(file, label string, e *Experiment, clients []int, lines []series) error {
	svg, err := drawPlot(label, clients, lines)
	if err != nil {
		return err
	}
	r.plots[file] = svg
	r.doc.add(figure{file: file, alt: fmt.Sprintf("%s: %s against clients", e.ID, label), svg: svg, legend: legendOf(lines)})
	return nil
}

// runs lists every run of an experiment.
func (r *reporter) runs(e *Experiment, tables []*aggregated) part {
	g := &grid{head: []string{
		"clients", "configuration", "round", "seconds", "TPS", "transactions", "latency ms", "p50 ms", "p99 ms", "CPU s",
		"blocks", "sleeps", "remark",
	}, text: 2}
	named := len(e.Tables) > 1
	if named {
		g.head, g.text = append([]string{"table"}, g.head...), 3
	}
	count := 0
	for _, a := range tables {
		for _, run := range r.res.Runs {
			if run.Experiment != e.ID || run.Table != a.table.Name {
				continue
			}
			count++
			sleeps := math.NaN()
			if run.Counters != nil {
				sleeps = run.Counters.Sleeps()
			}
			cpu := run.CPUSeconds
			if cpu < 0 {
				cpu = math.NaN()
			}
			row := []string{
				strconv.Itoa(run.Clients), run.Config, strconv.Itoa(run.Round + 1), number(run.Seconds), number(run.TPS),
				grouped(float64(run.Transactions)), number(run.LatencyMS), number(run.P50MS), number(run.P99MS), number(cpu),
				number(run.Blocks), number(sleeps), strings.TrimSpace(run.Error + " " + run.Shortened),
			}
			if named {
				row = append([]string{run.Table}, row...)
			}
			g.row(row...)
		}
	}
	return folded{fmt.Sprintf("All %d runs", count), []part{g.trim()}}
}
