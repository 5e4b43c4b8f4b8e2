package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/models"
)

// modelInfo is what models prints of a model.
type modelInfo struct {
	Name      string `json:"name"`
	Digest    string `json:"digest"`
	Pooling   string `json:"pooling"`
	Style     string `json:"style"`
	Dim       int    `json:"dim"`
	MaxLength int    `json:"max_length"`
	Interval  int    `json:"interval"`
	Default   bool   `json:"default"`
}

func newModels(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "models [DIR...]",
		Short: "List the models that ship with waymark, or describe model directories",
		RunE: func(cmd *cobra.Command, dirs []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if len(dirs) == 0 {
				dirs = models.Names()
			}
			var all []modelInfo
			for _, dir := range dirs {
				fsys, err := wire.ModelDir(dir)
				if err != nil {
					return err
				}
				spec, err := modeldir.Load(fsys)
				if err != nil {
					return fmt.Errorf("model %s: %w", dir, err)
				}
				c := spec.Config
				all = append(all, modelInfo{spec.Name, spec.Digest, string(c.Pooling), string(c.Style), c.Dim, c.MaxLength, c.Interval, dir == cfg.Model.Path})
			}
			if a.json {
				return a.printJSON(all)
			}
			for _, m := range all {
				mark := " "
				if m.Default {
					mark = "*"
				}
				fmt.Fprintf(a.stdout, "%s %s  %s pooling (%s), %d dimensions, windows of %d tokens, chunks of %d, weights %s\n",
					mark, m.Name, m.Pooling, m.Style, m.Dim, m.MaxLength, m.Interval, m.Digest)
			}
			return nil
		},
	}
}
