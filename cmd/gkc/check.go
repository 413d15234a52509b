package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/internal/atomicfile"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
)

type checkCmd struct {
	Files []string `arg:"" help:"gk files, or IR text."`
	Set   []string `sep:"none" placeholder:"N=V" help:"Fix a size."`
	JSON  bool     `name:"json" help:"A JSON object a line: file, line, column, severity, code, message, fix."`
}

// Run reports the mistakes of files.
func (c *checkCmd) Run(a *app) error {
	set, err := settings(c.Set)
	if err != nil {
		return err
	}
	wrong := false
	for _, path := range c.Files {
		src, err := readSource(path)
		if err != nil {
			return err
		}
		errs := mistakes(path, src, set)
		wrong = wrong || errs.HasErrors()
		if c.JSON {
			err = writeJSON(a, errs)
		} else if err = a.report(errs, src); err == (reported{exitWrong}) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if wrong {
		return reported{exitWrong}
	}
	return nil
}

// mistakes of a file of any level.
func mistakes(path, src string, set map[string]int64) diag.List {
	level, ok := passes.LevelByName(strings.TrimPrefix(filepath.Ext(path), "."))
	if !ok {
		_, errs := gkc.Compile(path, src, set)
		return errs
	}
	_, errs := readIR(path, src, level)
	return errs
}

// jsonDiag is a diagnosis as gkc check --json prints it.
type jsonDiag struct {
	File     string `json:"file"`
	Line     int32  `json:"line"`
	Column   int32  `json:"column"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Fix      string `json:"fix"`
}

func writeJSON(a *app, list diag.List) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	for _, d := range list {
		if err := enc.Encode(jsonDiag{d.File, d.Pos.Line, d.Pos.Col, d.Severity.String(), d.Code, d.Message, d.Fix}); err != nil {
			return err
		}
	}
	return nil
}

type fmtCmd struct {
	Files []string `arg:"" help:"gk files."`
	Check bool     `help:"Change nothing; list the files that are not formatted and exit with 1."`
}

// Run formats files in place.
func (c *fmtCmd) Run(a *app) error {
	stale := false
	for _, path := range c.Files {
		src, err := readSource(path)
		if err != nil {
			return err
		}
		out, errs := lang.Format(src)
		for _, d := range errs {
			d.File = path
		}
		if err := a.report(errs, src); err != nil {
			return err
		}
		if bytes.Equal([]byte(src), []byte(out)) {
			continue
		}
		if c.Check {
			stale = true
			fmt.Fprintf(a.out, "%s: not formatted; run gkc fmt %s\n", path, path)
			continue
		}
		if err := atomicfile.Write(path, []byte(out)); err != nil {
			return err
		}
	}
	if stale {
		return reported{exitWrong}
	}
	return nil
}
