package sql

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// rowsPerTarget is how many rows ANALYZE samples for each unit of the statistics
// target (Chaudhuri, Motwani and Narasayya, as PostgreSQL chooses).
const rowsPerTarget = 300

// maxStatWidth leaves wider values out of the common values and the histogram.
const maxStatWidth = 1024

// analyzeTable gathers the planner's statistics of one table, which may be gone.
func (s *Session) analyzeTable(ctx context.Context, oid catalog.OID, columns []string, task *vacuumTask) error {
	rel, err := s.lockForMaintenance(ctx, oid, locks.ShareUpdateExclusive, task, "analyze")
	if err != nil || rel == nil {
		return err
	}
	atts, err := analyzeColumns(rel, columns)
	if err != nil {
		return err
	}
	sample, err := gatherStatistics(ctx, s.eng, rel, atts, int(s.set.Int(settings.DefaultStatisticsTarget)))
	if err != nil {
		return err
	}
	if task.verbose {
		s.notice(pgerr.Notice(pgerr.SeverityInfo, pgerr.SuccessfulCompletion,
			"\"%s\": scanned %d of %d pages, containing %.0f live rows; %d rows in sample, %.0f estimated total rows",
			rel.Name, sample.BlocksSampled, sample.Pages, float64(len(sample.Rows)), len(sample.Rows), sample.TotalRows))
	}
	s.srv.eng.NoteAnalyzed(s.database.OID, rel.OID, sample.TotalRows, sample.DeadRows, false)
	return nil
}

// Analyze is engine.Config.Analyze: autovacuum's ANALYZE of one table.
func (srv *Server) Analyze(ctx context.Context, es *engine.Session, rel *catalog.Relation) error {
	atts, err := analyzeColumns(rel, nil)
	if err != nil {
		return err
	}
	sample, err := gatherStatistics(ctx, es, rel, atts, int(srv.set.Int(settings.DefaultStatisticsTarget)))
	if err != nil {
		return err
	}
	srv.eng.NoteAnalyzed(es.Database(), rel.OID, sample.TotalRows, sample.DeadRows, true)
	return nil
}

// gatherStatistics samples a table and stores what the planner wants to know.
func gatherStatistics(ctx context.Context, es *engine.Session, rel *catalog.Relation, atts []int, target int) (*engine.Sample, error) {
	sample, err := es.Sample(ctx, rel, max(target, 1)*rowsPerTarget)
	if err != nil {
		return nil, err
	}
	cat := es.Catalog()
	for _, att := range atts {
		a := &rel.Attrs[att]
		if a.StatTarget == 0 {
			continue
		}
		n := target
		if a.StatTarget > 0 {
			n = int(a.StatTarget)
		}
		col := columnSample{typ: a.Type, total: sample.TotalRows, target: n}
		if col.eqOp, col.ltOp, err = orderingOperators(cat, a.Type); err != nil {
			return nil, err
		}
		for i, row := range sample.Rows {
			col.add(i, row[att])
		}
		if err := storeStatistics(cat, rel.OID, a, col.compute()); err != nil {
			return nil, err
		}
	}
	return sample, es.SetRelStats(rel.OID, sample.Pages, sample.AllVisible, sample.TotalRows)
}

// orderingOperators are the = and < of a type's default btree class, 0 without one.
func orderingOperators(cat *catalog.Txn, typ types.OID) (eq, lt types.OID, err error) {
	oc, err := cat.DefaultOpclass(btreeAM, typ)
	if err != nil || oc == nil || !types.Ordered(typ, cat.Types()) {
		return 0, 0, err
	}
	if eq, err = cat.OpfamilyMember(oc.Family, oc.InType, oc.InType, 3); err != nil {
		return 0, 0, err
	}
	lt, err = cat.OpfamilyMember(oc.Family, oc.InType, oc.InType, 1)
	return eq, lt, err
}

const btreeAM catalog.OID = 403

func analyzeColumns(rel *catalog.Relation, names []string) ([]int, error) {
	var atts []int
	for _, name := range names {
		a := rel.AttrByName(name)
		if a == nil {
			return nil, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
		}
		if slices.Contains(atts, int(a.Num)-1) {
			return nil, pgerr.New(pgerr.DuplicateColumn, "column \"%s\" of relation \"%s\" appears more than once", name, rel.Name)
		}
		atts = append(atts, int(a.Num)-1)
	}
	if len(names) > 0 {
		return atts, nil
	}
	for i := range rel.Attrs {
		if !rel.Attrs[i].Dropped {
			atts = append(atts, i)
		}
	}
	return atts, nil
}

// columnSample is the sample of one column.
type columnSample struct {
	typ    types.OID
	total  float64
	target int
	rows   int
	nulls  int
	width  int64
	values []sampleValue
	wide   int
	eqOp   types.OID
	ltOp   types.OID // 0: values cannot be compared
}

type sampleValue struct {
	d     types.Datum
	index int // in physical order
}

func (c *columnSample) add(index int, d types.Datum) {
	c.rows++
	if d.Null {
		c.nulls++
		return
	}
	c.width += int64(max(len(d.B), fixedWidth(c.typ)))
	if len(d.B) > maxStatWidth {
		c.wide++
		return
	}
	c.values = append(c.values, sampleValue{d, index})
}

func fixedWidth(typ types.OID) int {
	if t := types.Builtin(typ); t != nil && t.Len > 0 {
		return int(t.Len)
	}
	return 0
}

// group is a value of the sample and how often it came.
type group struct {
	at    int // first in the sorted values
	count int
}

// compute derives the statistics, as PostgreSQL's compute_scalar_stats does: the number of
// different values by Haas and Stokes, the most common values, a histogram of the rest and the
// correlation with the physical order.
func (c *columnSample) compute() *catalog.Statistics {
	st := &catalog.Statistics{}
	if c.rows == 0 {
		return st
	}
	st.NullFrac = float32(float64(c.nulls) / float64(c.rows))
	if n := c.rows - c.nulls; n > 0 {
		st.Width = int32(c.width / int64(n))
	}
	if c.ltOp == 0 || len(c.values) == 0 {
		if len(c.values) > 0 || c.wide > 0 {
			st.Distinct = 0
		}
		return st
	}
	sort.SliceStable(c.values, func(i, j int) bool { return types.Compare(c.typ, c.values[i].d, c.values[j].d) < 0 })
	groups := c.groups()
	st.Distinct = c.distinct(groups)
	common := c.common(groups, float64(st.Distinct))
	c.addCommon(st, common)
	c.addHistogram(st, groups, common)
	c.addCorrelation(st)
	return st
}

func (c *columnSample) groups() []group {
	var groups []group
	for i := range c.values {
		if i == 0 || types.Compare(c.typ, c.values[i-1].d, c.values[i].d) != 0 {
			groups = append(groups, group{at: i})
		}
		groups[len(groups)-1].count++
	}
	return groups
}

// distinct is stadistinct.
func (c *columnSample) distinct(groups []group) float32 {
	once := 0
	for _, g := range groups {
		if g.count == 1 {
			once++
		}
	}
	d, f1, n := float64(len(groups)), float64(once+c.wide), float64(c.rows-c.nulls)
	nonNull := c.total * (1 - float64(c.nulls)/float64(c.rows))
	switch {
	case once == len(groups):
		return float32(-(1 - float64(c.nulls)/float64(c.rows)))
	case once+c.wide == 0:
		d = float64(len(groups) + c.wide)
	default:
		estimate := n * d / (n - f1 + f1*n/math.Max(nonNull, 1))
		d = math.Floor(math.Min(math.Max(estimate, d), nonNull) + 0.5)
	}
	if d > 0.1*c.total {
		return float32(-d / c.total)
	}
	return float32(d)
}

// common picks the most common values worth keeping.
func (c *columnSample) common(groups []group, distinct float64) []group {
	byCount := append([]group(nil), groups...)
	sort.SliceStable(byCount, func(i, j int) bool { return byCount[i].count > byCount[j].count })
	if len(groups) <= c.target && distinct > 0 && c.wide == 0 {
		keep := byCount
		for i, g := range byCount {
			if g.count == 1 && c.rows < int(c.total) {
				keep = byCount[:i]
				break
			}
		}
		return keep
	}
	byCount = byCount[:min(c.target, len(byCount))]
	for i, g := range byCount {
		if g.count < 2 || !c.stands(g.count, byCount[:i], len(groups)) {
			return byCount[:i]
		}
	}
	return byCount
}

// stands tells whether a value came markedly more often than those not in the list do on average.
func (c *columnSample) stands(count int, before []group, all int) bool {
	sum := 0
	for _, g := range before {
		sum += g.count
	}
	n := float64(c.rows - c.nulls)
	rest := (n - float64(sum)) / math.Max(1, float64(all-len(before)))
	return float64(count) > 1.25*rest
}

func (c *columnSample) addCommon(st *catalog.Statistics, common []group) {
	if len(common) == 0 {
		return
	}
	slot := catalog.StatSlot{Kind: catalog.StatMCV, Op: c.eqOp}
	for _, g := range common {
		slot.Values = append(slot.Values, c.values[g.at].d)
		slot.Numbers = append(slot.Numbers, float32(float64(g.count)/float64(c.rows)))
	}
	st.Slots = append(st.Slots, slot)
}

// addHistogram adds bounds of equal shares of the values that are not among the common ones.
func (c *columnSample) addHistogram(st *catalog.Statistics, groups, common []group) {
	skip := make(map[int]bool, len(common))
	for _, g := range common {
		skip[g.at] = true
	}
	var rest []types.Datum
	distinct := 0
	for _, g := range groups {
		if skip[g.at] {
			continue
		}
		distinct++
		for i := range g.count {
			rest = append(rest, c.values[g.at+i].d)
		}
	}
	bounds := min(distinct, c.target+1)
	if bounds < 2 {
		return
	}
	slot := catalog.StatSlot{Kind: catalog.StatHistogram, Op: c.ltOp}
	for i := range bounds {
		slot.Values = append(slot.Values, rest[i*(len(rest)-1)/(bounds-1)])
	}
	st.Slots = append(st.Slots, slot)
}

// addCorrelation adds the correlation of value order and physical order.
func (c *columnSample) addCorrelation(st *catalog.Statistics) {
	n := float64(len(c.values))
	if n < 2 {
		return
	}
	var sum float64
	order := make([]int, len(c.values))
	for i := range c.values {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return c.values[order[i]].index < c.values[order[j]].index })
	for physical, logical := range order {
		sum += float64(physical) * float64(logical)
	}
	total := (n - 1) * n / 2
	squares := (n - 1) * n * (2*n - 1) / 6
	r := (n*sum - total*total) / (n*squares - total*total)
	st.Slots = append(st.Slots, catalog.StatSlot{
		Kind: catalog.StatCorrelation, Op: c.ltOp, Numbers: []float32{float32(r)},
	})
}

// storeStatistics writes a row of pg_statistic.
func storeStatistics(cat *catalog.Txn, rel catalog.OID, a *catalog.Attribute, st *catalog.Statistics) error {
	row := make(catalog.Row, catalog.StatisticStavalues5+1)
	for i := range row {
		row[i] = types.NullDatum
	}
	row[catalog.StatisticStarelid] = types.OIDDatum(rel)
	row[catalog.StatisticStaattnum] = types.Int64Datum(int64(a.Num))
	row[catalog.StatisticStainherit] = types.BoolDatum(false)
	row[catalog.StatisticStanullfrac] = types.Float64Datum(float64(st.NullFrac))
	row[catalog.StatisticStawidth] = types.Int64Datum(int64(st.Width))
	row[catalog.StatisticStadistinct] = types.Float64Datum(float64(st.Distinct))
	for i := range 5 {
		var slot catalog.StatSlot
		if i < len(st.Slots) {
			slot = st.Slots[i]
		}
		row[catalog.StatisticStakind1+i] = types.Int64Datum(int64(slot.Kind))
		row[catalog.StatisticStaop1+i] = types.OIDDatum(slot.Op)
		coll := types.OID(0)
		if slot.Kind != 0 {
			coll = a.Collation
		}
		row[catalog.StatisticStacoll1+i] = types.OIDDatum(coll)
		if len(slot.Numbers) > 0 {
			nums := make([]types.Datum, len(slot.Numbers))
			for j, f := range slot.Numbers {
				nums[j] = types.Float64Datum(float64(f))
			}
			row[catalog.StatisticStanumbers1+i] = types.MakeArray(types.Float4, nums)
		}
		if len(slot.Values) > 0 {
			row[catalog.StatisticStavalues1+i] = types.MakeArray(a.Type, slot.Values)
		}
	}
	if _, err := cat.DeleteWhere(catalog.PgStatistic,
		catalog.Eq{Col: catalog.StatisticStarelid, Value: row[catalog.StatisticStarelid]},
		catalog.Eq{Col: catalog.StatisticStaattnum, Value: row[catalog.StatisticStaattnum]}); err != nil {
		return err
	}
	return cat.Insert(catalog.PgStatistic, row)
}
