// Package npy reads and writes numpy's .npy files.
package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/internal/atomicfile"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

const magic = "\x93NUMPY"

// descr is numpy's name of the storage of each dtype. bf16 and f8 travel as bit patterns in unsigned integers.
var descr = map[string]ir.Type{
	"<f8": ir.F64, "<f4": ir.F32, "<f2": ir.F16, "<i8": ir.I64, "<i4": ir.I32, "<i2": ir.I16, "|i1": ir.I8, "<i1": ir.I8,
	"<u8": ir.U64, "<u4": ir.U32, "<u2": ir.U16, "|u1": ir.U8, "<u1": ir.U8, "|b1": ir.Bool_,
}

// maxHeader bounds the header that is read, in bytes.
const maxHeader = 1 << 16

// Read reads one array. Its type is that of the file; As turns bit patterns into bf16 or f8.
func Read(r io.Reader) (*data.Array, error) {
	prefix := make([]byte, 8)
	if _, err := io.ReadFull(r, prefix); err != nil || string(prefix[:6]) != magic {
		return nil, fmt.Errorf("not a .npy file")
	}
	size := make([]byte, 2)
	if prefix[6] > 1 {
		size = make([]byte, 4)
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return nil, fmt.Errorf("the header of the .npy file is cut short")
	}
	n := int(binary.LittleEndian.Uint16(size))
	if len(size) == 4 {
		n = int(binary.LittleEndian.Uint32(size))
	}
	if n > maxHeader {
		return nil, fmt.Errorf("the header of the .npy file has %d bytes", n)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("the header of the .npy file is cut short")
	}
	t, shape, err := parseHeader(string(header))
	if err != nil {
		return nil, err
	}
	return readData(r, t, shape)
}

func readData(r io.Reader, t ir.Type, shape []int) (*data.Array, error) {
	total := t.Bytes()
	for _, s := range shape {
		if s > 0 && total > data.MaxBytes/s {
			return nil, fmt.Errorf("the .npy file claims %v elements", shape)
		}
		total *= s
	}
	// Reading through a growing buffer keeps a lying header from claiming memory that the file does not fill.
	var buf bytes.Buffer
	if got, err := io.CopyN(&buf, r, int64(total)); err != nil {
		return nil, fmt.Errorf("the .npy file holds %d bytes of data, its header says %d", got, total)
	}
	return &data.Array{Type: t, Shape: shape, Data: buf.Bytes()}, nil
}

func parseHeader(h string) (t ir.Type, shape []int, err error) {
	name, ok := field(h, "'descr':")
	if !ok || len(name) < 2 || name[0] != '\'' {
		return t, nil, fmt.Errorf("the .npy header names no dtype: %q", h)
	}
	name = name[1 : 1+strings.IndexByte(name[1:]+"'", '\'')]
	if t, ok = descr[name]; !ok {
		return t, nil, fmt.Errorf("the .npy file holds %q, which is no dtype of the language (little-endian f8 f4 f2, i8 i4 i2 i1, u4 u2 u1, b1)", name)
	}
	order, ok := field(h, "'fortran_order':")
	if !ok || strings.HasPrefix(order, "True") {
		return t, nil, fmt.Errorf("the .npy file is in Fortran order; save numpy.ascontiguousarray(x)")
	}
	dims, ok := field(h, "'shape':")
	end := strings.IndexByte(dims, ')')
	if !ok || dims == "" || dims[0] != '(' || end < 0 {
		return t, nil, fmt.Errorf("the .npy header names no shape: %q", h)
	}
	shape = []int{}
	for _, s := range strings.Split(dims[1:end], ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(s, "L"))
		if err != nil || n < 0 {
			return t, nil, fmt.Errorf("the .npy header has a strange shape: %q", dims[:end+1])
		}
		shape = append(shape, n)
	}
	return t, shape, nil
}

func field(h, key string) (string, bool) {
	i := strings.Index(h, key)
	if i < 0 {
		return "", false
	}
	return strings.TrimSpace(h[i+len(key):]), true
}

// Write writes one array.
func Write(w io.Writer, a *data.Array) error {
	name := storageName(a.Type)
	dims := make([]string, len(a.Shape))
	for i, s := range a.Shape {
		dims[i] = strconv.Itoa(s)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", name, shape)
	pad := 64 - (10+len(h)+1)%64
	h += strings.Repeat(" ", pad%64) + "\n"
	var out bytes.Buffer
	out.WriteString(magic + "\x01\x00")
	_ = binary.Write(&out, binary.LittleEndian, uint16(len(h))) // a Buffer does not fail
	out.WriteString(h)
	out.Write(a.Data)
	_, err := w.Write(out.Bytes())
	return err
}

func storageName(t ir.Type) string {
	switch t {
	case ir.BF16:
		t = ir.U16
	case ir.F8E4M3, ir.F8E5M2:
		t = ir.U8
	}
	for _, name := range []string{"<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"} {
		if descr[name] == t {
			return name
		}
	}
	panic("npy: no storage for " + t.String())
}

// As reads an array from a file as a tensor of type t: bf16 and f8 come as bit patterns in unsigned integers of their width.
func As(a *data.Array, t ir.Type) (*data.Array, error) {
	if a.Type == t {
		return a, nil
	}
	if t.IsFloat() && t.Bits() <= 16 && t != ir.F16 && a.Type.IsInt() && a.Type.Elem.Kind == ir.Uint && a.Type.Bits() == t.Bits() {
		return &data.Array{Type: t, Shape: a.Shape, Data: a.Data}, nil
	}
	return nil, fmt.Errorf("the file holds %s, expected %s", a.Type, t)
}

// ReadFile reads a .npy file.
func ReadFile(path string) (*data.Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// WriteFile writes a .npy file atomically.
func WriteFile(path string, a *data.Array) error {
	var b bytes.Buffer
	if err := Write(&b, a); err != nil {
		return err
	}
	return atomicfile.Write(path, b.Bytes())
}
