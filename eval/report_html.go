package eval

import (
	"html/template"
	"io"
	"strings"
)

// page is a report as one file that needs no other.
var page = template.Must(template.New("report").Funcs(template.FuncMap{"cell": cell}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>waymark eval</title>
<style>
:root { color-scheme: light dark; --line: #d1d9e0; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem; text-align: left; white-space: nowrap; }
figure { margin: 1.5rem 0; padding: .5rem; background: #fff; overflow-x: auto; }
</style>
</head>
<body>
<h1>waymark eval</h1>
<ul>{{range .Settings}}<li>{{.Name}}: {{.Value}}</li>{{end}}</ul>
{{range .Tables}}<h2>{{.Title}}</h2>
{{with .Note}}<p>{{.}}</p>
{{end}}<table>
<tr>{{range .Head}}<th scope="col">{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{cell .}}</td>{{end}}</tr>
{{end}}</table>
{{end}}{{with .Plots}}<h2>plots</h2>
<p>Bars are 95% intervals.</p>
{{range .}}<figure>{{.}}</figure>
{{end}}{{end}}</body>
</html>
`))

// HTML writes a report as one page with its plots inside.
func (r *Report) HTML(w io.Writer) error {
	data := struct {
		Settings []Setting
		Tables   []tableData
		Plots    []template.HTML
	}{Settings: r.Settings, Tables: r.tables()}
	for _, c := range r.charts() {
		svg, err := c.svg()
		if err != nil {
			return err
		}
		data.Plots = append(data.Plots, template.HTML(svg)) // gonum/plot escapes the texts in it
	}
	return page.Execute(w, data)
}

// cell shows what is bold in Markdown as bold.
func cell(text string) template.HTML {
	before, rest, bold := strings.Cut(text, "**")
	inside, after, closed := strings.Cut(rest, "**")
	escape := template.HTMLEscapeString
	if !bold || !closed {
		return template.HTML(escape(text))
	}
	return template.HTML(escape(before) + "<b>" + escape(inside) + "</b>" + escape(after))
}
