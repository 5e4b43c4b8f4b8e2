package chunker

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDeclaration(t *testing.T) {
	for line, want := range map[string]string{
		"func Parse(s string) error {":                      "func Parse",
		"func (r *Raw) Single() bool {":                     "func Raw.Single",
		"func (c cache[K, V]) get(k K) V {":                 "func cache.get",
		"type Range struct {":                               "type Range",
		"def read(self):":                                   "def read",
		"async def read(self):":                             "def read",
		"def self.find(id)":                                 "def self.find",
		"class Reader(Base):":                               "class Reader",
		"export default class Reader extends Base {":        "class Reader",
		"export async function load(url) {":                 "function load",
		"function* walk() {":                                "function walk",
		"const load = async (url) => {":                     "const load",
		"let f = x => x + 1":                                "let f",
		"constructor(a, b) {":                               "constructor()",
		"#clear(fn) {":                                      "#clear()",
		"[Symbol.iterator]() {":                             "[Symbol.iterator]()",
		"public static void main(String[] args) throws E {": "main()",
		"public Map<String, List<String>> get(URI uri,":     "get()",
		"boolean match(String a) {":                         "match()",
		"std::vector<int> Store::all() const {":             "Store::all()",
		"Store::~Store() {":                                 "Store::~Store()",
		"deploy() {":                                        "deploy()",
		"pub fn parse<'a>(s: &'a str) -> Result<T> {":       "fn parse",
		"impl<T> Iterator for Walk<T> where T: Clone {":     "impl Iterator for Walk<T>",
		"pub(crate) struct Walk<T> {":                       "struct Walk",
		"enum class Color : int {":                          "enum class Color",
		"data class Point(val x: Int)":                      "class Point",
		"override suspend fun load() = 1":                   "fun load",
		"defmodule App.Store do":                            "defmodule App.Store",
		"local function a.b:c(x)":                           "function a.b:c",
		"message Query {":                                   "message Query",
		"[server.http]":                                     "[server.http]",
		"if (x) {":                                          "", "} else if (x) {": "", "for (int i = 0; i < n; i++) {": "", "else if (x) {": "", "while (x) {": "", "return call(x) {": "",
		"switch (f(x)) {": "", "match parse(x) {": "", "struct stat st;": "", "struct point make(int x);": "", "class of things": "",
		"describe('it', () => {": "", "it('works', function () {": "", "forEach(list, func(s string) {": "", "x = f(y) {": "",
		"call(x);": "", "new Thing() {": "", "defer func() {": "", "- a list in YAML": "", "key: value": "", "defer f()": "", "[1, 2, 3]": "",
	} {
		if got := declaration(line); got != want {
			t.Errorf("declaration(%q) = %q, want %q", line, got, want)
		}
	}
}

// Every function of this module that fits in a chunk is in one, with its comment, and
// chunks that start in a function have its name.
func TestGoFunctionsWhole(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	functions, cut, starts, named := 0, 0, 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(WordTokenizer{}, Options{MaxTokens: 256})
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := c.Split(Document{ID: file, Text: string(data), Syntax: Code})
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLimits(WordTokenizer{}, c.opt, string(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			start := fset.Position(f.Pos()).Offset
			if f.Doc != nil {
				start = fset.Position(f.Doc.Pos()).Offset
			}
			r := Range{start, fset.Position(f.End()).Offset}
			fits := l.fits(r)
			if fits {
				functions++
			}
			for _, chunk := range chunks {
				if first := firstVisible(string(data), chunk.Range); first >= r.Start && first < r.End {
					starts++
					if n := len(chunk.Headings); n > 0 && strings.HasSuffix(chunk.Headings[n-1], f.Name.Name) {
						named++
					}
				}
				if fits && chunk.Start > r.Start && chunk.Start < r.End {
					cut++
				}
			}
		}
	}
	t.Logf("%d of %d functions cut; %d of %d chunks named", cut, functions, named, starts)
	if functions < 500 || cut*200 > functions || named*100 < starts*95 {
		t.Errorf("%d of %d functions cut; %d of %d chunks named; want at most 0.5%% and at least 95%%", cut, functions, named, starts)
	}
}
