package randgk

import (
	"context"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"time"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// Compiled is a program at every level: with a thread an element, and in blocks for a device.
type Compiled struct {
	Tensor *tensor.Program
	Lowered
	Blocks Lowered
}

// Lowered is what computes it.
type Lowered struct {
	Tile *tile.Module
	Simt *simt.Module
}

// Rejected is the error of a program that the checker does not take: the generator's fault, not the compiler's.
type Rejected struct{ error }

// deviceName is the device on which programs run.
const deviceName = "h200"

// patience is how long one run may take on one path.
const patience = 20 * time.Second

// guarded turns panics into errors: to the one who compares, they are differences.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}

// Compile takes a source with one kernel down to every level, verifying each, and checks that every text reads back.
func Compile(source string) (c *Compiled, err error) {
	err = guarded(func() error {
		unit, errs := lang.Compile("k.gk", source, nil)
		if len(errs) > 0 || len(unit.Programs) != 1 {
			return Rejected{errs.Err()}
		}
		if c, err = lower(unit.Programs[0], source); err != nil {
			return err
		}
		return c.readBack(source)
	})
	return c, err
}

// lower compiles a program, for a device with schedules that are drawn, the same for the same source.
func lower(p *tensor.Program, source string) (c *Compiled, err error) {
	c = &Compiled{Tensor: p}
	if err := c.lower(passes.Unit{}, p); err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write([]byte(source))
	seed := h.Sum64()
	u := passes.Unit{Draw: &seed}
	if seed%4 == 0 {
		u.Draw = nil // the defaults
	}
	if u.Device, err = device.Find(deviceName); err != nil {
		return nil, err
	}
	if err := c.Blocks.lower(u, p); err != nil {
		return nil, fmt.Errorf("in blocks: %w", err)
	}
	return c, nil
}

func (l *Lowered) lower(u passes.Unit, p *tensor.Program) error {
	u.Level, u.Tensor = passes.Tensor, p
	if err := passes.Run(&u, passes.Options{To: passes.Tile, Verify: true}); err != nil {
		return err
	}
	l.Tile = u.Tile
	if err := passes.Run(&u, passes.Options{To: passes.Simt, Verify: true}); err != nil {
		return err
	}
	l.Simt = u.Simt
	return nil
}

func (c *Compiled) readBack(source string) error {
	formatted, errs := lang.Format(source)
	if len(errs) > 0 {
		return fmt.Errorf("format: %w", errs.Err())
	}
	if again, errs := lang.Format(formatted); len(errs) > 0 || again != formatted {
		return fmt.Errorf("the formatted text is formatted in another way")
	}
	if _, errs := lang.Compile("k.gk", formatted, nil); len(errs) > 0 {
		return fmt.Errorf("the formatted text does not compile: %w", errs.Err())
	}
	units := []*passes.Unit{{Level: passes.Tensor, Tensor: c.Tensor}, {Level: passes.Tile, Tile: c.Tile}, {Level: passes.Simt, Simt: c.Simt},
		{Level: passes.Tile, Tile: c.Blocks.Tile}, {Level: passes.Simt, Simt: c.Blocks.Simt}}
	for _, u := range units {
		again, err := passes.ParseUnit(u.Level, u.Text())
		if err != nil {
			return fmt.Errorf("%s text does not read back: %w", u.Level, err)
		}
		if again.Text() != u.Text() {
			return fmt.Errorf("%s text reads back as another one", u.Level)
		}
	}
	return nil
}

// Outcome is what a path made of a call.
type Outcome struct {
	Out map[string]*data.Array
	Err error
}

// Reference runs the evaluator. The bounds say how far the others may be off.
func Reference(p *tensor.Program, call *data.Call) (o Outcome, bounds map[string]*data.Array) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bounds = map[string]*data.Array{}
	o.Err = guarded(func() (err error) {
		o.Out, err = tensor.Eval(p, call, tensor.EvalOptions{Context: ctx, Bound: bounds})
		return err
	})
	return o, bounds
}

// OnTiles runs the tile module.
func (l *Lowered) OnTiles(call *data.Call) (o Outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o.Err = guarded(func() (err error) {
		o.Out, err = tile.Eval(ctx, l.Tile, call)
		return err
	})
	return o
}

// OnSimulator runs the device kernels.
func (l *Lowered) OnSimulator(call *data.Call) (o Outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o.Err = guarded(func() error {
		dev, err := device.Find(deviceName)
		if err != nil {
			return err
		}
		res, err := sim.Run(ctx, l.Simt, dev, call, sim.Options{Workers: 1})
		if err == nil {
			o.Out = res.Outputs
		}
		return err
	})
	return o
}
