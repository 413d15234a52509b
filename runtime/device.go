package runtime

import (
	"context"
	"fmt"
	"strings"
)

// Device runs calls of kernels. This package has the processor; drivers of other devices are packages of their own.
type Device interface {
	String() string
	// Run runs a call and returns when its results are there. An error leaves the arguments as they were.
	Run(ctx context.Context, c *Call) error
}

// CPU is the processor that the program runs on.
func CPU() Device { return cpu{} }

type cpu struct{}

func (cpu) String() string { return "cpu" }

func (cpu) Run(ctx context.Context, c *Call) error { return c.Go(ctx) }

// Call is one call of one kernel, as a device sees it.
type Call struct {
	Source  string // the file that the kernel is from
	Kernel  string
	Scalars []Scalar                    // sizes and scalar arguments
	Arrays  []Array                     // tensor arguments and results
	Go      func(context.Context) error // the kernel as Go, over the same memory

	err error
}

// Scalar is a size or a scalar argument.
type Scalar struct {
	Name  string
	Value any
}

// Array is a tensor argument or a result.
type Array struct {
	Name   string
	Shape  []int
	Bytes  []byte // its memory
	Result bool
}

// NewCall begins a call. Launchers that gkc writes are its callers: the first mistake of the arguments stays, and Run returns it.
func NewCall(source, kernel string) *Call { return &Call{Source: source, Kernel: kernel} }

// fail keeps the first mistake.
func (c *Call) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("kernel %s: "+format, append([]any{c.Kernel}, args...)...)
	}
}

// Run runs the call on a device.
func (c *Call) Run(ctx context.Context, d Device) error {
	if d == nil {
		c.fail("the device is nil")
	}
	if c.err != nil {
		return c.err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("kernel %s: %w", c.Kernel, err)
	}
	if err := d.Run(ctx, c); err != nil {
		return fmt.Errorf("%s: kernel %s: %w", c.Source, c.Kernel, err)
	}
	return nil
}

// Value records a scalar.
func (c *Call) Value(name string, v any) { c.Scalars = append(c.Scalars, Scalar{name, v}) }

// Size is a size that the caller gives because no shape has it.
func (c *Call) Size(name string, n int) int64 {
	if n < 0 {
		c.fail("size %s is %d: negative", name, n)
	}
	c.Value(name, int64(n))
	return int64(n)
}

// SizeOf is the size that a dimension of an argument has, less an offset.
func (c *Call) SizeOf(name, array string, dim int, offset int64) int64 {
	a := c.array(array)
	if c.err != nil || dim >= len(a.Shape) {
		return 0
	}
	n := int64(a.Shape[dim]) - offset
	if n < 0 {
		c.fail("dimension %d of %s is %d, too small: size %s would be %d", dim+1, array, a.Shape[dim], name, n)
		return 0
	}
	c.Value(name, n)
	return n
}

func (c *Call) array(name string) *Array {
	for i := range c.Arrays {
		if c.Arrays[i].Name == name {
			return &c.Arrays[i]
		}
	}
	return &Array{Name: name}
}

// Fits demands that an argument has the kernel's extents, of which text says how they are written.
func (c *Call) Fits(array string, text []string, extents ...int64) {
	if c.err != nil {
		return
	}
	for d, n := range c.array(array).Shape {
		if int64(n) != extents[d] {
			c.fail("dimension %d of %s is %d, but the kernel's extent %s is %d there%s", d+1, array, n, text[d], extents[d], c.scalars())
			return
		}
	}
}

// Where demands a condition on sizes and scalar arguments.
func (c *Call) Where(holds bool, text string) {
	if !holds {
		c.fail("it demands %s, which does not hold%s", text, c.scalars())
	}
}

// scalars says what the call's sizes and scalar arguments are.
func (c *Call) scalars() string {
	var all []string
	for _, s := range c.Scalars {
		all = append(all, fmt.Sprintf("%s = %v", s.Name, s.Value))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
