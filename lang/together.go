package lang

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// together does jobs 0 to n-1 on all processors; worker makes what one of them does its jobs with. It reports whether all jobs went
// well, and stops where one does not. A panic counts as that: whoever called does the jobs again, one behind the other, and meets
// it there.
func together(n int, worker func() func(job int) bool) bool {
	var next atomic.Int64
	var failed atomic.Bool
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			defer func() {
				if recover() != nil {
					failed.Store(true)
				}
			}()
			do := worker()
			for job := int(next.Add(1)) - 1; job < n && !failed.Load(); job = int(next.Add(1)) - 1 {
				if !do(job) {
					failed.Store(true)
				}
			}
		})
	}
	all.Wait()
	return !failed.Load()
}
