package simt

// Verb is a row of the table of synchronisation verbs: what it does is data that the verifier, the simulator and the CUDA
// printer read.
type Verb struct {
	Name  string // sync arrive wait init expect commit waitread fence release sleep
	On    string // class of its barrier: cta warp cluster grid named mbar queue fence none
	Args  []string
	Block bool   // all threads of its scope must reach it together
	Text  string // one sentence: the portable meaning
}

// CopyForm is a row of the table of asynchronous copies.
type CopyForm struct {
	Name  string
	Queue string // cp or bulk; empty: completes on an mbarrier
	Bytes int    // fixed size; 0: the statement or the map says it
	Text  string
}

// Atom is a row of the table of matrix operations.
type Atom struct {
	Name    string
	M, N, K int
	Text    string
}
