package passes

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir/diag"
)

// atOnce does something for the numbers below n, at the same time where there are processors. What is thrown for the lowest number
// is thrown again when all are done.
func atOnce(n int, do func(int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	thrown := make([]any, n)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				thrown[i] = catch(func() { do(i) })
			}
		})
	}
	wait.Wait()
	for _, x := range thrown {
		if x != nil {
			panic(x)
		}
	}
}

// catch is what f throws: a diagnosis, or the text of a bug with its stack, which the thread that throws it again does not have.
func catch(f func()) (thrown any) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *diag.Diag:
			thrown = r
		default:
			thrown = fmt.Sprintf("%v\n%s", r, debug.Stack())
		}
	}()
	f()
	return nil
}
