module example.com/downstream

go 1.26

tool github.com/gkc-lang/gkc/cmd/gkc

require (
	github.com/alecthomas/kong v1.17.0 // indirect
	github.com/alecthomas/participle/v2 v2.1.4 // indirect
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/gkc-lang/gkc v0.0.0 // indirect
)

replace github.com/gkc-lang/gkc => ../..
