package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/wire"
)

// app is what the commands share.
type app struct {
	program
	configFile string
	store      string
	tenant     string
	sets       []string
	json       bool
	verbose    bool
}

// newRoot returns the command tree.
func newRoot(p program) *cobra.Command {
	a := &app{program: p}
	root := &cobra.Command{
		Use:           "waymark",
		Short:         "Index folders of documents and answer from them, with citations",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Long: `Waymark indexes folders of documents and answers from them, with citations.

  waymark index docs
  waymark search "how are chunks cut?"
  waymark ask "how are chunks cut?"
  waymark chat

Settings come from waymark.yaml in the current folder (or --config), then from
WAYMARK_ variables, then from flags; --set reaches every one of them.

Exit codes: 0 done, 1 failed, 2 usage, 3 some documents skipped,
10 store missing, 11 model mismatch, 12 backend unreachable, 130 interrupted.`,
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true

	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", "", "configuration file (default waymark.yaml if it is there)")
	flags.StringVar(&a.store, "store", "", "where the documents are kept, local:PATH or qdrant://HOST:6334/COLLECTION (default local:.waymark/index.db)")
	flags.StringVar(&a.tenant, "tenant", "", "whose documents, in a store that several tenants share")
	flags.StringArrayVar(&a.sets, "set", nil, "set any setting, such as search.mmr=0.7; may be repeated")
	flags.BoolVar(&a.json, "json", false, "print JSON for programs")
	flags.BoolVar(&a.verbose, "verbose", false, "log what goes on to stderr")

	root.AddCommand(newIndex(a), newSearch(a), newAsk(a), newChat(a), newServe(a), newMCP(a), newExport(a), newModels(a), newDoctor(a), newEval(a))
	return root
}

// usageArgs makes a mistake in the arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// config returns the settings in force; extra come from a command's own flags.
func (a *app) config(extra ...configs.Setting) (configs.Config, error) {
	src := configs.Sources{File: a.configFile, Environ: a.environ}
	if src.File == "" {
		src.File = a.getenv("WAYMARK_CONFIG")
	}
	sets, err := parseSets("--set", a.sets)
	if err != nil {
		return configs.Config{}, err
	}
	src.Settings = sets
	if a.store != "" {
		src.Settings = append(src.Settings, configs.Setting{Key: "store", Value: a.store, From: "--store"})
	}
	if a.tenant != "" {
		src.Settings = append(src.Settings, configs.Setting{Key: "tenant", Value: a.tenant, From: "--tenant"})
	}
	src.Settings = append(src.Settings, extra...)
	cfg, err := configs.Load(src)
	if err != nil {
		return configs.Config{}, usageError{err}
	}
	if cfg.Model.Library == "" {
		cfg.Model.Library = a.getenv("WAYMARK_ONNXRUNTIME")
	}
	return cfg, nil
}

// parseSets reads the KEY=VALUE pairs of a flag.
func parseSets(flag string, pairs []string) ([]configs.Setting, error) {
	var out []configs.Setting
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usageError{fmt.Errorf("%s %q: want KEY=VALUE, such as %s search.k=5", flag, pair, flag)}
		}
		out = append(out, configs.Setting{Key: key, Value: value, From: flag})
	}
	return out, nil
}

// changed returns, for each of a command's flags that was given, the setting
// that it stands for.
func changed(cmd *cobra.Command, keys map[string]string) []configs.Setting {
	var out []configs.Setting
	for name, key := range keys {
		if f := cmd.Flags().Lookup(name); f.Changed {
			value := strings.Trim(f.Value.String(), "[]") // of a list, as pflag prints it
			out = append(out, configs.Setting{Key: key, Value: value, From: "--" + name})
		}
	}
	return out
}

// open builds the pipeline.
func (a *app) open(ctx context.Context, cfg configs.Config, access wire.Access) (*wire.Built, error) {
	return wire.Open(ctx, cfg, access, a.getenv, a.log())
}

func (a *app) log() *slog.Logger {
	if !a.verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(a.stderr, nil))
}

// printJSON writes v for programs.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
