package lab

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// series is a line of a plot.
type series struct {
	name   string
	dashed bool
	// values, low and high belong to the client counts of the plot; NaN where there is none.
	values, low, high []float64
}

// colours can be told apart by most people, on white and on black.
var colours = []color.RGBA{
	{0xd5, 0x5e, 0x00, 0xff},
	{0x00, 0x72, 0xb2, 0xff},
	{0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff},
	{0xb8, 0x86, 0x0b, 0xff},
	{0x56, 0xb4, 0xe9, 0xff},
	{0x8a, 0x5a, 0xc8, 0xff},
	{0x80, 0x80, 0x80, 0xff},
}

var grey = color.RGBA{0x80, 0x80, 0x80, 0xff}

const (
	plotWidth   = 25 * vg.Centimeter
	plotHeight  = 10 * vg.Centimeter
	legendWidth = 7 * vg.Centimeter
)

// drawPlot draws lines over client counts, evenly spaced as they are chosen.
func drawPlot(yLabel string, clients []int, lines []series) ([]byte, error) {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(10)}
	p.X.Label.Text, p.Y.Label.Text = "clients", yLabel
	for _, style := range []*font.Font{
		&p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font,
	} {
		*style = sans
	}
	p.Y.Min = 0
	p.X.Min, p.X.Max = -0.3, float64(len(clients))-0.7
	var ticks plot.ConstantTicks
	for i, c := range clients {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: fmt.Sprint(c)})
	}
	p.X.Tick.Marker = ticks
	lattice := plotter.NewGrid()
	lattice.Vertical.Width = 0
	lattice.Horizontal.Color = color.RGBA{0xb0, 0xb0, 0xb0, 0xff}
	lattice.Horizontal.Width = vg.Points(0.4)
	p.Add(lattice)
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font = sans
	legend.Padding = vg.Points(2)
	for i, s := range lines {
		if err := s.addTo(p, &legend, i); err != nil {
			return nil, err
		}
	}
	if p.Y.Max <= 0 || math.IsInf(p.Y.Max, 0) {
		p.Y.Max = 1
	}
	canvas := vgsvg.New(plotWidth, plotHeight)
	area := draw.New(canvas)
	area.SetColor(color.White)
	area.Fill(area.Rectangle.Path())
	p.BackgroundColor = color.White
	p.Draw(draw.Crop(area, 0, -legendWidth, 0, 0))
	legend.Draw(draw.Crop(area, plotWidth-legendWidth+vg.Points(10), 0, 0, 0))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}

func (s *series) addTo(p *plot.Plot, legend *plot.Legend, i int) error {
	var points plotter.XYs
	bars := errorBars{}
	for x, y := range s.values {
		if math.IsNaN(y) {
			continue
		}
		points = append(points, plotter.XY{X: float64(x), Y: y})
		if s.low != nil && !math.IsNaN(s.low[x]) {
			bars.XYs = append(bars.XYs, plotter.XY{X: float64(x), Y: y})
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{y - max(s.low[x], 0), s.high[x] - y})
		}
	}
	if len(points) == 0 {
		return nil
	}
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, dots.Color = s.colour(i), s.colour(i)
	line.Width = vg.Points(1.5)
	switch {
	case s.dashed:
		line.Dashes = []vg.Length{vg.Points(2), vg.Points(2)}
	case i >= len(colours):
		line.Dashes = []vg.Length{vg.Points(6), vg.Points(2)}
	}
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}}
	dots.Shape, dots.Radius = shapes[i%len(shapes)], vg.Points(2.5)
	p.Add(line, dots)
	legend.Add(s.name, line, dots)
	if len(bars.XYs) > 0 {
		whiskers, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return err
		}
		whiskers.Color = line.Color
		p.Add(whiskers)
	}
	return nil
}

// colour is that of the i-th line.
func (s *series) colour(i int) color.RGBA {
	if s.dashed {
		return grey
	}
	return colours[i%len(colours)]
}

// legendKey says what a line of a plot is, for pages too narrow for the legend in the plot.
type legendKey struct {
	name   string
	colour color.RGBA
	broken bool
}

func legendOf(lines []series) []legendKey {
	var keys []legendKey
	for i, s := range lines {
		if slices.ContainsFunc(s.values, func(v float64) bool { return !math.IsNaN(v) }) {
			keys = append(keys, legendKey{s.name, s.colour(i), s.dashed || i >= len(colours)})
		}
	}
	return keys
}

// errorBars are points with the ends of their intervals.
type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

var (
	prologue  = regexp.MustCompile(`(?s)^.*?<svg`)
	fixedSize = regexp.MustCompile(`<svg width="[^"]*" height="[^"]*"`)
)

// inlineSVG makes a plot part of a page: it gets the page's colours, and its size from the page.
func inlineSVG(svg []byte) []byte {
	svg = prologue.ReplaceAll(svg, []byte("<svg"))
	svg = fixedSize.ReplaceAll(svg, []byte("<svg"))
	svg = bytes.ReplaceAll(svg, []byte("fill:#FFFFFF"), []byte("fill:none"))
	return bytes.ReplaceAll(svg, []byte("#000000"), []byte("currentColor"))
}
