package randgk

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/gkc-lang/gkc/ir/data"
)

// record is a trial as one line of JSON. Arrays are bytes, as they are stored.
type record struct {
	Seed    uint64
	Run     int
	Source  string
	Scalars map[string]uint64 // bits of values: of float64, or of int64
	Inputs  map[string]stored
	Error   string
	Results map[string]stored
	Bounds  map[string]stored
}

type stored struct {
	Type  string
	Shape []int
	Data  []byte
}

func storedAll(arrays map[string]*data.Array) map[string]stored {
	out := map[string]stored{}
	for name, a := range arrays {
		out[name] = stored{a.Type.String(), a.Shape, a.Data}
	}
	return out
}

// writeTrials writes what another implementation needs to check the evaluator.
func writeTrials(file string, trials []*trial) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errorsFirst(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, tr := range trials {
		r := record{Seed: tr.program.Seed, Run: tr.run, Source: tr.program.Source, Scalars: map[string]uint64{}, Inputs: storedAll(tr.call.Inputs)}
		for name, v := range tr.call.Scalars {
			r.Scalars[name] = v.Bits
		}
		if tr.want.Err != nil {
			r.Error = tr.want.Err.Error()
		}
		r.Results, r.Bounds = storedAll(tr.want.Out), storedAll(tr.bounds)
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return w.Flush()
}

func errorsFirst(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
