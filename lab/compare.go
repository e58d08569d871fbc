package lab

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/minipg/minipg/lab/stats"
)

// Compare writes as Markdown how the runs of one directory differ from those of another. They were not made in
// turn, so their difference may be that of two days.
func Compare(out io.Writer, before, after string) error {
	first, err := Load(before)
	if err != nil {
		return err
	}
	second, err := Load(after)
	if err != nil {
		return err
	}
	d := &document{title: fmt.Sprintf("%s against %s", after, before)}
	d.add(paragraph("Ratios above 1: the second is faster. The runs were not made in turn, so a difference of the machine between the " +
		"two counts as one of the servers; intervals are Welch's, on logarithms."))
	if a, b := first.Machine, second.Machine; a.CPU != b.CPU || a.Cores != b.Cores || a.MemoryMB != b.MemoryMB || a.Kernel != b.Kernel {
		d.add(paragraph("The machines differ."))
	}
	if !slices.Equal(first.Settings, second.Settings) {
		d.add(paragraph(fmt.Sprintf("The settings differ: %s against %s.", settingsText(second.Settings), settingsText(first.Settings))))
	}
	found := false
	for _, e := range Experiments() {
		for _, t := range e.Tables {
			if g := compareTable(aggregate(first, e, t), aggregate(second, e, t)); len(g.rows) > 0 {
				found = true
				d.add(heading{2, strings.TrimSpace(e.ID + " " + t.Name)}, g.trim())
			}
		}
	}
	if !found {
		return fmt.Errorf("%s and %s have no run in common", before, after)
	}
	_, err = out.Write(d.toMarkdown())
	return err
}

func compareTable(a, b *aggregated) *grid {
	g := &grid{head: []string{
		"clients", "configuration", "before", "after", "ratio", "95 % interval", "difference",
		"sleeps / 1,000 blocks before", "after", "p99 ms before", "after",
	}, text: 2}
	for _, clients := range b.clients {
		for _, now := range b.columns {
			for _, then := range a.columns {
				if then.config.Name != now.config.Name || len(then.rounds(clients)) == 0 || len(now.rounds(clients)) == 0 {
					continue
				}
				diff := stats.Unpaired(tpsOf(then.rounds(clients)), tpsOf(now.rounds(clients)))
				interval, verdict := "", ""
				if diff.Known() {
					interval = factor(diff.Low) + " - " + factor(diff.High)
					verdict = string(stats.Judge(diff, stats.Difference{}))
				}
				g.row(strconv.Itoa(clients), now.config.Name, number(then.tps(clients).Mean), number(now.tps(clients).Mean),
					factor(diff.Ratio), interval, verdict, number(then.sleepsPerBlock(clients)), number(now.sleepsPerBlock(clients)),
					number(then.ratio(clients, 1, p99Of, one)), number(now.ratio(clients, 1, p99Of, one)))
			}
		}
	}
	return g
}
