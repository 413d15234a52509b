package autotune

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"
)

// Key names what a schedule is for: a definition of a kernel with some sizes, on a device.
type Key struct {
	Kernel  string `json:"kernel"`
	Device  string `json:"device"`
	Sizes   string `json:"sizes"`   // "M=512,N=512"
	Program string `json:"program"` // the fingerprint of what is compiled: what was found for another is worth nothing
	Of      string `json:"of"`      // the tensor that the definition defines
}

// Record is what is known of a schedule: one line of a log. A later line about the same says more.
type Record struct {
	Key
	Schedule  string  `json:"schedule"`
	Estimate  float64 `json:"estimate_seconds,omitempty"`
	Simulated float64 `json:"simulated_seconds,omitempty"`
	Refused   string  `json:"refused,omitempty"` // why it cannot be
}

type place struct {
	Key
	schedule string
}

// Log holds records, and appends them to a file as they come. Logs of several runs, one behind the other, are a log.
type Log struct {
	known map[place]Record
	file  *os.File
	guard sync.Mutex
}

// OpenLog reads a log and more of them, and appends to the first. A line that a run could not finish is no record.
func OpenLog(path string, more ...string) (*Log, error) {
	l := &Log{known: map[place]Record{}}
	whole := true
	for _, p := range append([]string{path}, more...) {
		text, err := os.ReadFile(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		l.read(text)
		if p == path {
			whole = len(text) == 0 || text[len(text)-1] == '\n'
		}
	}
	var err error
	if l.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	if !whole {
		_, err = l.file.WriteString("\n")
	}
	return l, err
}

func (l *Log) read(text []byte) {
	for line := range bytes.Lines(text) {
		var r Record
		if json.Unmarshal(line, &r) == nil && r.Kernel != "" && r.Schedule != "" {
			l.keep(r)
		}
	}
}

// keep adds what a record says to what is known.
func (l *Log) keep(r Record) {
	at := place{r.Key, r.Schedule}
	old := l.known[at]
	r.Estimate, r.Simulated, r.Refused = cmp.Or(r.Estimate, old.Estimate), cmp.Or(r.Simulated, old.Simulated), cmp.Or(r.Refused, old.Refused)
	l.known[at] = r
}

// Find is what is known of a schedule.
func (l *Log) Find(k Key, schedule string) (Record, bool) {
	l.guard.Lock()
	defer l.guard.Unlock()
	r, ok := l.known[place{k, schedule}]
	return r, ok
}

// Add appends a record.
func (l *Log) Add(r Record) error {
	r.Estimate, r.Simulated = rounded(r.Estimate), rounded(r.Simulated)
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	l.guard.Lock()
	defer l.guard.Unlock()
	l.keep(r)
	_, err = l.file.Write(append(line, '\n')) // whole, or as the last line of an interrupted run
	return err
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// rounded keeps six digits, so that files are short and schedules that hardly differ are equal.
func rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return x
	}
	return y
}
