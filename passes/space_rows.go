package passes

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tile"
)

// rowChoice is the schedule of a reduction. A block has rows of it and goes along the columns in trips of cols. A warp has lanes
// along the columns and the rest along the rows. A thread takes vec elements at once along the columns or, with across, the rows.
type rowChoice struct {
	rows, cols, vec int
	across          int // 0 or 1
	lanes           int
	warps, warpsR   int // along the rows and the columns
	split           int // parts of the columns, each for blocks of its own; 0: there cannot be several
}

func rowChoiceOf(c schedule.Choice) rowChoice {
	return rowChoice{c.Of("rows", 1), c.Of("cols", 1), c.Of("vec", 1), c.Of("across", 0), c.Of("lanes", 1), c.Of("warps", 1), c.Of("warps.r", 1), c.Of("split", 0)}
}

func (c rowChoice) threads() int { return 32 * c.warps * c.warpsR }

// least are the rows and columns that give every thread something.
func (c rowChoice) least() (rows, cols int) {
	rows, cols = 32/c.lanes*c.warps, c.lanes*c.warpsR
	if c.across == 1 {
		return rows * c.vec, cols
	}
	return rows, cols * c.vec
}

func (c rowChoice) leastRows() int {
	rows, _ := c.least()
	return rows
}

// rowSpace are the knobs of a reduction whose accumulators take bytes an element.
func rowSpace(bytes int, d *device.Device, c rowChoice) *schedule.Space {
	l := limitsOf(d)
	s := &schedule.Space{Limit: func(c schedule.Choice) error { return l.rows(bytes, rowChoiceOf(c)) }}
	s.Knobs = []schedule.Knob{
		{Name: "rows", Values: powers(1, 1<<14), Default: c.rows},
		{Name: "cols", Values: powers(1, 1<<14), Default: c.cols},
		{Name: "vec", Values: powers(1, 16), Default: c.vec},
		{Name: "across", Values: []int{0, 1}, Default: c.across},
		{Name: "lanes", Values: powers(1, 32), Default: c.lanes},
		{Name: "warps", Values: powers(1, 32), Default: c.warps},
		{Name: "warps.r", Values: powers(1, 32), Default: c.warpsR},
	}
	if c.split > 0 {
		s.Knobs = append(s.Knobs, schedule.Knob{Name: "split", Values: powers(1, maxSplit), Default: c.split})
	}
	return s
}

// rows says which limit a choice exceeds.
func (l limits) rows(bytes int, c rowChoice) error {
	rows, cols := c.least()
	switch {
	case c.threads() > l.threads:
		return fmt.Errorf("warps %d and warps.r %d need %d threads; a block of %s has %d", c.warps, c.warpsR, c.threads(), l.name, l.threads)
	case c.rows < rows:
		return fmt.Errorf("lanes %d, warps %d, vec %d, across %d give threads %d rows; rows is %d", c.lanes, c.warps, c.vec, c.across, rows, c.rows)
	case c.cols < cols:
		return fmt.Errorf("lanes %d, warps.r %d, vec %d, across %d give threads %d columns; cols is %d", c.lanes, c.warpsR, c.vec, c.across, cols, c.cols)
	}
	if need, most := c.rows*c.cols/c.threads()*bytes/4, min(l.perThread, l.registers/c.threads())/2; need > most {
		return fmt.Errorf("rows %d, cols %d keep %d registers of partial results in each of %d threads; %d of those of %s can hold them", c.rows, c.cols, need, c.threads(), most, l.name)
	}
	if need := c.rows * c.warpsR * bytes; c.warpsR > 1 && need > l.shared {
		return fmt.Errorf("rows %d, warps.r %d need %d bytes of shared memory; a block of %s has %d", c.rows, c.warpsR, need, l.name, l.shared)
	}
	return nil
}

// Of the schedules that nobody chose.
const (
	warpsOfBlock = 8  // that a block has where it can
	warpsOfSM    = 24 // that keep memory busy
	smsOfAny     = 64 // where the device is not known
	sectorBytes  = 32 // that memory moves at least
	leastVectors = 2  // that a thread takes of a row before it is cut among warps
	leastTrips   = 4  // of a block before its columns are cut in parts
	maxSplit     = 256
)

func smsOf(d *device.Device) int {
	if d == nil || d.SMs == 0 {
		return smsOfAny
	}
	return d.SMs
}

// choose is the schedule that is expected to be good.
func (s rowShape) choose(d *device.Device) rowChoice {
	rows, cols := s.rows, s.cols
	c := rowChoice{vec: s.vec, lanes: 1, warps: 1, warpsR: 1}
	if s.across {
		c.across = 1
	} else {
		c.lanes = min(32, power(ceilDiv(cols, c.vec)))
	}
	c.share(rows, cols, s.width, smsOf(d)*warpsOfSM)
	l := limitsOf(d)
	if s.again && s.known {
		if all, ok := c.hold(cols, s.taken); ok && l.rows(s.bytes, all.block(rows)) == nil {
			return all.block(rows)
		}
	}
	c = c.block(rows)
	for l.rows(s.bytes, c) != nil && c.smaller() {
	}
	return c.fill(cols, s.taken, s.bytes, l)
}

// smaller takes less at once; false if it cannot.
func (c *rowChoice) smaller() bool {
	for _, x := range []*int{&c.vec, &c.warpsR, &c.warps} {
		if *x > 1 {
			*x /= 2
			c.rows, c.cols = c.least()
			return true
		}
	}
	return false
}

// block gives a block as many rows as its warps have at least.
func (c rowChoice) block(rows int) rowChoice {
	c.warps = max(1, min(warpsOfBlock/c.warpsR, power(rows)/c.leastRows()))
	rows, cols := c.least()
	c.rows, c.cols = rows, max(c.cols, cols)
	return c
}

// hold takes so many warps that the block has all columns at once; false if they are too many.
func (c rowChoice) hold(cols, most int) (rowChoice, bool) {
	c.cols = power(cols)
	for ; ; c.warpsR *= 2 {
		_, least := c.least()
		if taken := c.cols / least * c.vec; taken <= most || c.warpsR == 32 {
			return c, taken <= 2*most
		}
	}
}

// share cuts the work until there are so many warps: first along the columns, then in shorter vectors across the rows, down to
// what memory moves at least.
func (c *rowChoice) share(rows, cols, width, wanted int) {
	have := func() int { return max(1, rows/c.leastRows()) * c.warpsR }
	longer := func() bool {
		_, least := c.least()
		return cols >= 2*leastVectors*least
	}
	wide := func() bool { return c.across == 1 && 32/c.lanes*c.vec*width >= 2*sectorBytes } // what lanes beside each other load
	for have() < wanted {
		switch {
		case c.warpsR < warpsOfBlock && longer():
			c.warpsR *= 2
		case wide() && c.vec > 1:
			c.vec /= 2
		case wide() && longer():
			c.lanes *= 2
		case c.warpsR < 4*warpsOfBlock && longer():
			c.warpsR *= 2
		default:
			return
		}
	}
}

// parts cuts the columns in parts where the rows are too few for the blocks of a device, and columns many.
func (c *rowChoice) parts(s rowShape, d *device.Device) {
	blocks := ceilDiv(s.rows, c.rows)
	for c.split = 1; c.split < maxSplit && blocks*c.split < smsOf(d) && s.cols >= 2*leastTrips*c.split*c.cols; {
		c.split *= 2
	}
}

// fill gives threads several vectors a trip, as long as few of them are behind the last column.
func (c rowChoice) fill(cols, most, bytes int, l limits) rowChoice {
	taken := c.vec
	for next := c.cols * 2; taken*2 <= most && next < 2*cols; next *= 2 {
		over := ceilDiv(cols, next)*next - cols
		if more := c; over*8 <= cols {
			if more.cols = next; l.rows(bytes, more) == nil {
				c = more
			}
		}
		taken *= 2
	}
	return c
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// power is the least power of two that is not below n.
func power(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// spaceOfRows is the space of a kernel that is there: its defaults are what it has.
func spaceOfRows(k *tile.Kernel, d *device.Device) *schedule.Space {
	bytes, sum := 0, 0
	for _, s := range k.Body[0].(*tile.Loop).Body {
		if r, ok := s.(*tile.Reduce); ok {
			sum += max(r.In.Type.Bytes(), 4)
		} else {
			bytes, sum = max(bytes, sum), 0
		}
	}
	if bytes = max(bytes, sum); bytes == 0 {
		bytes = planeBytes
	}
	return rowSpace(bytes, d, rowChoiceOf(k.Sched))
}

func (k *rowKernel) space(d *device.Device) *schedule.Space {
	c := k.shape.choose(d)
	if k.splits() {
		c.parts(k.shape, d)
	}
	return rowSpace(k.shape.bytes, d, c)
}
