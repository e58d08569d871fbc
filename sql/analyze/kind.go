package analyze

// exprKind is where in a statement an expression stands; it decides what may be in it.
type exprKind uint8

const (
	kindNone exprKind = iota
	kindOther
	kindJoinOn
	kindJoinUsing
	kindFromSubselect
	kindFromFunction
	kindWhere
	kindPolicy
	kindHaving
	kindFilter
	kindWindowPartition
	kindWindowOrder
	kindWindowFrameRange
	kindWindowFrameRows
	kindWindowFrameGroups
	kindSelectTarget
	kindInsertTarget
	kindUpdateSource
	kindUpdateTarget
	kindGroupBy
	kindOrderBy
	kindDistinctOn
	kindLimit
	kindOffset
	kindReturning
	kindValues
	kindValuesSingle
	kindCheck
	kindDomainCheck
	kindColumnDefault
	kindFunctionDefault
	kindIndexExpression
	kindIndexPredicate
	kindStatsExpression
	kindAlterTransform
	kindExecuteParameter
	kindTriggerWhen
	kindPartitionBound
	kindPartitionExpression
	kindCallArgument
	kindCopyWhere
	kindGenerated
	kindCycleMark
)

// kindInfo is how messages speak of a kind.
type kindInfo struct {
	name string
	// place completes "... are not allowed in"; name does where it is empty.
	place string
	// subquery completes "cannot use subquery in"; empty where one may be used.
	subquery string
}

var kinds = [...]kindInfo{
	kindOther:               {name: "expression"},
	kindJoinOn:              {name: "JOIN/ON", place: "JOIN conditions"},
	kindJoinUsing:           {name: "JOIN/USING", place: "JOIN conditions"},
	kindFromSubselect:       {name: "sub-SELECT in FROM"},
	kindFromFunction:        {name: "function in FROM", place: "functions in FROM"},
	kindWhere:               {name: "WHERE"},
	kindPolicy:              {name: "POLICY", place: "policy expressions"},
	kindHaving:              {name: "HAVING"},
	kindFilter:              {name: "FILTER"},
	kindWindowPartition:     {name: "window PARTITION BY", place: "window definitions"},
	kindWindowOrder:         {name: "window ORDER BY", place: "window definitions"},
	kindWindowFrameRange:    {name: "window RANGE", place: "window definitions"},
	kindWindowFrameRows:     {name: "window ROWS", place: "window definitions"},
	kindWindowFrameGroups:   {name: "window GROUPS", place: "window definitions"},
	kindSelectTarget:        {name: "SELECT"},
	kindInsertTarget:        {name: "INSERT"},
	kindUpdateSource:        {name: "UPDATE"},
	kindUpdateTarget:        {name: "UPDATE"},
	kindGroupBy:             {name: "GROUP BY"},
	kindOrderBy:             {name: "ORDER BY"},
	kindDistinctOn:          {name: "DISTINCT ON"},
	kindLimit:               {name: "LIMIT"},
	kindOffset:              {name: "OFFSET"},
	kindReturning:           {name: "RETURNING"},
	kindValues:              {name: "VALUES"},
	kindValuesSingle:        {name: "VALUES"},
	kindCheck:               {name: "CHECK", place: "check constraints", subquery: "check constraint"},
	kindDomainCheck:         {name: "CHECK", place: "check constraints", subquery: "check constraint"},
	kindColumnDefault:       {name: "DEFAULT", place: "DEFAULT expressions", subquery: "DEFAULT expression"},
	kindFunctionDefault:     {name: "DEFAULT", place: "DEFAULT expressions", subquery: "DEFAULT expression"},
	kindIndexExpression:     {name: "index expression", place: "index expressions", subquery: "index expression"},
	kindIndexPredicate:      {name: "index predicate", place: "index predicates", subquery: "index predicate"},
	kindStatsExpression:     {name: "statistics expression", place: "statistics expressions", subquery: "statistics expression"},
	kindAlterTransform:      {name: "USING", place: "transform expressions", subquery: "transform expression"},
	kindExecuteParameter:    {name: "EXECUTE", place: "EXECUTE parameters", subquery: "EXECUTE parameter"},
	kindTriggerWhen:         {name: "WHEN", place: "trigger WHEN conditions", subquery: "trigger WHEN condition"},
	kindPartitionBound:      {name: "partition bound", place: "partition bound", subquery: "partition bound"},
	kindPartitionExpression: {name: "PARTITION BY", place: "partition key expressions", subquery: "partition key expression"},
	kindCallArgument:        {name: "CALL", place: "CALL arguments", subquery: "CALL argument"},
	kindCopyWhere:           {name: "WHERE", place: "COPY FROM WHERE conditions", subquery: "COPY FROM WHERE condition"},
	kindGenerated:           {name: "GENERATED AS", place: "column generation expressions", subquery: "column generation expression"},
	kindCycleMark:           {name: "CYCLE"},
}

func (k exprKind) name() string { return kinds[k].name }

func (k exprKind) place() string {
	if p := kinds[k].place; p != "" {
		return p
	}
	return kinds[k].name
}
