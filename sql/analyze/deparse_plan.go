package analyze

// planPrinter is what printing the expressions of a plan needs.
type planPrinter struct{}

func (p *planPrinter) isColumn(Expr) bool { return false }

func (d *deparser) planExpr(Expr, bool) bool { return false }
