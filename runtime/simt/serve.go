package simt

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A program that holds kernels serves them over its input and output. A request is the number of a kernel and its arguments:
// scalars as 8-byte words, arrays as their length in bytes with or without contents. A reply is a status and the results.
// Everything is little-endian.

// The statuses of replies.
const (
	StatusDone  = iota // the bytes of every result
	StatusFault        // kernel, code, number of arguments, arguments
	StatusError        // a text
)

// Request is a call that is being read.
type Request struct {
	in      io.Reader
	results [][]byte
	err     error
}

// Word is the next scalar argument, or another number.
func (r *Request) Word() uint64 {
	var b [8]byte
	if r.err == nil {
		_, r.err = io.ReadFull(r.in, b[:])
	}
	return binary.LittleEndian.Uint64(b[:])
}

// Input is the next array, with its contents.
func Input[T any](r *Request) []T {
	b := r.array()
	if r.err == nil {
		_, r.err = io.ReadFull(r.in, b)
	}
	return Recast[T](b)
}

// Output is the next array, whose contents the reply carries.
func Output[T any](r *Request) []T {
	b := r.array()
	r.results = append(r.results, b)
	return Recast[T](b)
}

// array makes the memory of an array, aligned to words.
func (r *Request) array() []byte {
	n := r.Word()
	if r.err == nil && n > math.MaxInt64/2 {
		r.err = fmt.Errorf("an array of %d bytes", n)
	}
	if r.err != nil {
		return nil
	}
	return Recast[byte](make([]uint64, (n+7)/8))[:n]
}

// Serve answers requests until the input ends.
func Serve(in io.Reader, out io.Writer, kernels []func(*Request) error) error {
	r := bufio.NewReaderSize(in, 1<<16)
	w := bufio.NewWriterSize(out, 1<<16)
	for {
		if _, err := r.Peek(1); err == io.EOF {
			return nil
		}
		q := &Request{in: r}
		n := q.Word()
		if q.err != nil || n >= uint64(len(kernels)) {
			return fmt.Errorf("simt: request %d of %d kernels: %w", n, len(kernels), q.err)
		}
		err := kernels[n](q)
		if q.err != nil {
			return q.err
		}
		reply(w, q, err)
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

func reply(w *bufio.Writer, q *Request, err error) {
	word := func(n int64) { _ = binary.Write(w, binary.LittleEndian, n) }
	text := func(s string) { word(int64(len(s))); _, _ = w.WriteString(s) }
	var fault *Fault
	switch {
	case errors.As(err, &fault):
		word(StatusFault)
		text(fault.Kernel)
		word(int64(fault.Code))
		word(int64(len(fault.Args)))
		for _, a := range fault.Args {
			word(a)
		}
	case err != nil:
		word(StatusError)
		text(err.Error())
	default:
		word(StatusDone)
		for _, b := range q.results {
			_, _ = w.Write(b)
		}
	}
}
