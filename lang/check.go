package lang

import (
	"slices"

	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// Unit is a source file that was checked.
type Unit struct {
	File     *File
	Programs []*tensor.Program // the kernels, in source order
	Examples []*ExampleValues
}

// Kernel finds a program by name; nil if there is none.
func (u *Unit) Kernel(name string) *tensor.Program {
	for _, p := range u.Programs {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Only is the file with one of its kernels, and without examples.
func (f *File) Only(kernel string) *File {
	out := &File{Name: f.Name, Lost: f.Lost}
	for _, item := range f.Items {
		switch item := item.(type) {
		case *Kernel:
			if item.Name != kernel {
				continue
			}
		case *Example:
			continue
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// Compile parses and checks a source text. set fixes sizes (--set D=128). The Unit holds what is right, also beside mistakes.
func Compile(name, src string, set map[string]int64) (*Unit, diag.List) {
	file, errs := Parse(name, src)
	programs, examples, more := Check(file, set)
	return &Unit{file, programs, examples}, append(errs, more...).Sorted()
}

// Check turns a file into programs whose every name, type, range and access is right, and lists the mistakes of the others.
// set fixes sizes, which must be sizes of some kernel.
func Check(file *File, set map[string]int64) ([]*tensor.Program, []*ExampleValues, diag.List) {
	c := &checker{file: file, set: set, funcs: map[string]*macro{}, consts: map[string]*constant{}, kernels: map[string]*kernel{}, scratch: &scratch{}}
	c.declareItems()
	c.budget = macroBudget + macroBudgetEach*c.size()
	for _, item := range file.Items {
		switch item := item.(type) {
		case *Const:
			if k := c.consts[item.Name]; k != nil {
				c.constant(k)
			}
		case *Func:
			if m := c.funcs[item.Name]; m != nil && m.Func == item {
				c.checkMacro(m)
			}
		}
	}
	programs := c.checkKernels()
	c.settings()
	examples := c.examples()
	for _, d := range c.errs {
		d.File = file.Name
	}
	return programs, examples, c.errs.Sorted()
}

// A file's macros may make so many operations, and so many more for each of its statements.
const (
	macroBudget     = 200_000
	macroBudgetEach = 200
)

// checker holds what the declarations of a file share.
type checker struct {
	file    *File
	set     map[string]int64
	errs    diag.List
	count   int // of all mistakes; errs keeps the first maxMistakes
	funcs   map[string]*macro
	consts  map[string]*constant
	kernels map[string]*kernel
	blamed  diag.Pos // the call of a macro that was reported last
	budget  int      // terms that macros may still make
	serial  int32
	*scratch
}

// scratch is what one kernel after the other is checked with.
type scratch struct {
	low      lowering  // of definitions, one after the other
	inferred inference // of statements
	terms    []term    // a stock of terms to hand out
	first    []term    // the stock that every kernel begins with: no term outlives its kernel
}

// kernelTerms is more than most kernels have.
const kernelTerms = 128

// reset begins with another kernel.
func (s *scratch) reset() {
	if s.first == nil {
		s.first = make([]term, kernelTerms)
	}
	s.terms, s.low.memo = s.first, nil
}

func (c *checker) fail(pos diag.Pos, code, format string, args ...any) *diag.Diag {
	d := diag.Errorf(pos, code, format, args...)
	c.report(d)
	return d
}

// maxMistakes is how many mistakes of a file are told.
const maxMistakes = 500

func (c *checker) report(d *diag.Diag) {
	if c.count++; c.count <= maxMistakes {
		c.errs.Add(d)
	}
}

// size counts the statements of the file.
func (c *checker) size() (n int) {
	for _, item := range c.file.Items {
		switch item := item.(type) {
		case *Func:
			n += 1 + len(item.Lets)
		case *Kernel:
			n += 1 + len(item.Body)
		}
	}
	return n
}

// declareItems collects the names of consts and funcs.
func (c *checker) declareItems() {
	for _, item := range c.file.Items {
		switch item := item.(type) {
		case *Const:
			if c.declarable("const", item.Name, item.Pos) {
				c.consts[item.Name] = &constant{Const: item}
			}
		case *Func:
			if c.declarable("func", item.Name, item.Pos) {
				c.funcs[item.Name] = &macro{Func: item, file: true}
			}
		}
	}
}

func (c *checker) declarable(what, name string, pos diag.Pos) bool {
	switch {
	case isBuiltin(name):
		c.fail(pos, "twice", "%s %s takes the name of something built in", what, name)
	case c.consts[name] != nil:
		c.fail(pos, "twice", "%s is declared twice", name).WithNote(c.consts[name].Pos, "first declared here")
	case c.funcs[name] != nil:
		c.fail(pos, "twice", "%s is declared twice", name).WithNote(c.funcs[name].Pos, "first declared here")
	default:
		return true
	}
	return false
}

// settings reports values that were set for sizes that no kernel has.
func (c *checker) settings() {
	names := make([]string, 0, len(c.set))
	for name := range c.set {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		known := len(c.file.Lost) > 0
		for _, k := range c.kernels {
			known = known || k.broken || k.sizes[name]
		}
		switch {
		case c.set[name] < 0:
			c.fail(diag.Pos{}, "call", "--set %s=%d: a size is not negative", name, c.set[name])
		case !known:
			c.fail(diag.Pos{}, "call", "--set %s: no kernel has a size %s", name, name)
		}
	}
}
