package lab

import (
	"fmt"
	"math"
	"strings"

	"github.com/minipg/minipg/lab/stats"
)

// readings says in words what a table shows: the same questions for every table, so that nobody has picked
// what suits.
func readings(a *aggregated) []string {
	var list []string
	base := a.base()
	if base == nil {
		return nil
	}
	last := a.last()
	if text := noiseText(a); text != "" {
		list = append(list, text)
	}
	var differences []string
	for _, c := range a.columns {
		if c == base || c.config.control || len(c.rounds(last)) == 0 {
			continue
		}
		if text := differenceText(a, c, last); text != "" {
			differences = append(differences, text)
		}
	}
	if len(differences) > 0 {
		list = append(list, fmt.Sprintf("At %d clients, as multiples of the throughput of \"%s\": %s.",
			last, base.config.Name, strings.Join(differences, "; ")))
	}
	if a.table.Sleeps == ExtensionSleeps {
		list = append(list, sleepsText(a, last)...)
	}
	for _, c := range a.columns {
		if c.config.Default {
			list = append(list, defaultText(c)...)
		}
	}
	return list
}

func noiseText(a *aggregated) string {
	worst := 1.0
	counts := 0
	for _, clients := range a.clients {
		if d := a.control(clients); d.Known() {
			counts++
			worst = max(worst, d.Ratio, 1/d.Ratio)
		}
	}
	if counts == 0 {
		return "There is one round only, hence no interval and no control: the figures are a first look."
	}
	return fmt.Sprintf("Noise: \"%s\" against itself differed by up to %.1f %%.", a.base().config.Name, 100*(worst-1))
}

func differenceText(a *aggregated, c *column, clients int) string {
	d := a.difference(c, clients)
	if d.Pairs == 0 || d.Ratio == 0 {
		return ""
	}
	var remarks []string
	if d.Known() {
		text := fmt.Sprintf("%s to %s", factor(d.Low), factor(d.High))
		if judge(a, c, clients) == stats.Noise {
			text += ": not more than noise"
		}
		remarks = append(remarks, text)
	}
	first, ok := a.table.Configs[0].Published[clients]
	if f, ok2 := c.config.Published[clients]; ok && ok2 {
		remarks = append(remarks, "published "+factor(f.TPS/first.TPS))
	} else if a.table.PublishedRatio > 0 && len(a.table.Configs) > 1 && c.config.Name == a.table.Configs[1].Name {
		remarks = append(remarks, fmt.Sprintf("published %s, elsewhere and under other circumstances", factor(a.table.PublishedRatio)))
	}
	text := fmt.Sprintf("\"%s\" %s", c.config.Name, factor(d.Ratio))
	if len(remarks) > 0 {
		text += " (" + strings.Join(remarks, "; ") + ")"
	}
	return text
}

// sleepsText compares sleeps within each lock, where the first of its configurations stands for one block.
func sleepsText(a *aggregated, clients int) []string {
	var list []string
	for _, g := range lockGroups(a) {
		if len(g) < 2 {
			continue
		}
		first := g[0].sleepsPerBlock(clients)
		var words []string
		for _, c := range g {
			word := fmt.Sprintf("\"%s\" %s", c.config.Name, sleepsNumber(c.sleepsPerBlock(clients)))
			if c != g[0] {
				word += sleepsRatio(first, c.sleepsPerBlock(clients))
			}
			words = append(words, word)
		}
		list = append(list, fmt.Sprintf("Sleeps per 1,000 blocks at %d clients: %s.", clients, strings.Join(words, "; ")))
	}
	return list
}

func sleepsNumber(v float64) string {
	if math.IsNaN(v) {
		return "unknown"
	}
	return number(v)
}

// sleepsRatio says how many times fewer sleeps there were than first.
func sleepsRatio(first, v float64) string {
	switch {
	case math.IsNaN(first) || math.IsNaN(v) || first == 0 && v == 0:
		return ""
	case v == 0:
		return " (none)"
	}
	return " (ratio " + factor(first/v) + ")"
}

// lockGroups are the columns under each lock, in their order.
func lockGroups(a *aggregated) [][]*column {
	var names []string
	groups := map[string][]*column{}
	for _, c := range a.columns {
		if c.config.control || c.config.postgres || c.config.Default {
			continue
		}
		lock := ""
		for _, s := range c.config.Settings {
			if s.Name == "relation_extension_lock" {
				lock = s.Value
			}
		}
		if groups[lock] == nil {
			names = append(names, lock)
		}
		groups[lock] = append(groups[lock], c)
	}
	var list [][]*column
	for _, n := range names {
		list = append(list, groups[n])
	}
	return list
}

// defaultText says whether throughput holds under the default settings.
func defaultText(c *column) []string {
	var low []string
	list := c.retentions()
	for _, r := range list {
		if r.difference.Known() && r.difference.Low < minRetention {
			low = append(low, fmt.Sprintf("%d clients %s (lower bound %s)", r.clients, factor(r.difference.Ratio), factor(r.difference.Low)))
		}
	}
	switch {
	case list == nil || len(c.rounds(list[0].peak)) < 2:
		return nil
	case len(low) == 0:
		return []string{fmt.Sprintf("Default settings: throughput at every client count is at least %.2f of the peak (at %d clients) by the lower bound.",
			minRetention, list[0].peak)}
	}
	return []string{fmt.Sprintf("Default settings: throughput is below %.2f of the peak (at %d clients) by the lower bound at %s.",
		minRetention, list[0].peak, strings.Join(low, ", "))}
}

// Conclusions are the last lines of a run: one for each table, that of E2 at the very end.
func Conclusions(res *Results, experiments []*Experiment) []string {
	var lines, last []string
	for _, e := range experiments {
		for _, t := range e.Tables {
			a := aggregate(res, e, t)
			if len(a.columns) == 0 || a.base() == nil {
				continue
			}
			if e.ID == "E2" {
				last = append(last, sleepsLine(a))
				continue
			}
			lines = append(lines, conclusion(e, a))
		}
	}
	return append(lines, last...)
}

func conclusion(e *Experiment, a *aggregated) string {
	clients := a.last()
	name := e.ID
	if a.table.Name != "" {
		name += " " + a.table.Name
	}
	words := []string{fmt.Sprintf("%s, %d clients, %s: %s %s", name, clients, a.table.unit(), a.base().config.Name,
		number(a.base().tps(clients).Mean))}
	for _, c := range a.columns {
		if d := a.difference(c, clients); c != a.base() && d.Pairs > 0 {
			words = append(words, fmt.Sprintf("%s x %s", c.config.Name, factor(d.Ratio)))
		}
	}
	return strings.Join(words, "; ")
}

// sleepsLine names the sleeps per 1,000 blocks of each configuration and their ratios.
func sleepsLine(a *aggregated) string {
	clients := a.last()
	var parts []string
	for _, g := range lockGroups(a) {
		for _, c := range g {
			text := c.config.Name + " " + sleepsNumber(c.sleepsPerBlock(clients))
			if c != g[0] {
				text += sleepsRatio(g[0].sleepsPerBlock(clients), c.sleepsPerBlock(clients))
			}
			parts = append(parts, text)
		}
	}
	for _, c := range a.columns {
		if c.config.Default {
			parts = append(parts, c.config.Name+" "+sleepsNumber(c.sleepsPerBlock(clients)))
		}
	}
	return fmt.Sprintf("E2, %d clients, sleeps per 1,000 blocks: %s", clients, strings.Join(parts, ", "))
}
