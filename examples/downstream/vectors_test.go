package downstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gkc-lang/gkc/runtime"
)

func tensor[T runtime.Element](t *testing.T, elements ...T) *runtime.Tensor[T] {
	t.Helper()
	x, err := runtime.From(elements, len(elements))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestStepInPlace(t *testing.T) {
	x, g := tensor[float32](t, 1, 2, 3), tensor[float32](t, 1, 1, 2)
	if err := Step(context.Background(), runtime.CPU(), x, 0.5, g); err != nil {
		t.Fatal(err)
	}
	if want := []float32{0.5, 1.5, 2}; !slices.Equal(x.Data(), want) {
		t.Fatalf("%v, expected %v", x.Data(), want)
	}
}

func TestTwoResults(t *testing.T) {
	lo, hi, err := Spread(context.Background(), runtime.CPU(), tensor(t, 3.0, -1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if lo.Data()[0] != -1 || hi.Data()[0] != 3 {
		t.Fatalf("%v, %v", lo.Data(), hi.Data())
	}
}

func TestMistakesAreErrors(t *testing.T) {
	ctx, cpu := context.Background(), runtime.CPU()
	x := tensor[float32](t, 1, 2, 3)
	matrix, err := runtime.Zeros[float32](3, 1)
	if err != nil {
		t.Fatal(err)
	}
	gather := func(x *runtime.Tensor[float32], at ...int32) error {
		_, err := Gather(ctx, cpu, x, tensor(t, at...))
		return err
	}
	spread := func(x ...float64) error {
		_, _, err := Spread(ctx, cpu, tensor(t, x...))
		return err
	}
	nowhere := func() error { _, err := Gather(ctx, nil, x, tensor[int32](t, 0)); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{gather(x, 0, 7), "vectors.gk: kernel gather: line 2: index 7 of X"},
		{gather(nil, 0), "argument X is nil"},
		{gather(&runtime.Tensor[float32]{}, 0), "argument X has shape [] but 0 elements"},
		{gather(matrix, 0), "argument X has 2 dimensions [3 1], but the kernel's has 1"},
		{Step(ctx, cpu, x, 1, tensor[float32](t, 1, 2)), "dimension 1 of g is 2, but the kernel's extent N is 3 there"},
		{Step(ctx, cpu, x, 1, x), "arguments x and g overlap"},
		{spread(1), "it demands N > 0, which does not hold (N = 0)"},
		{spread(), "size N would be -1"},
		{nowhere(), "the device is nil"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, expected %q", c.err, c.want)
		}
	}
	if want := []float32{1, 2, 3}; !slices.Equal(x.Data(), want) {
		t.Errorf("a call that failed changed its argument to %v", x.Data())
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Spread(ctx, runtime.CPU(), tensor(t, 1.0, 2)); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, expected %v", err, context.Canceled)
	}
}
