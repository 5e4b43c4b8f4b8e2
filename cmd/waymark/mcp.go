package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/server"
)

func newMCP(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve the index to an MCP client that started this program",
		Args:  usageArgs(cobra.NoArgs),
		Long: `Mcp speaks the Model Context Protocol over its standard input and output, for clients
on this machine that start it themselves. It has two tools: search finds passages,
fetch reads what surrounds them. waymark serve has the same at /mcp for clients
elsewhere.`,
		Example: `  {"mcpServers": {"docs": {"command": "waymark", "args": ["mcp", "--store", "local:/home/me/docs.db"]}}}`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
			collections, s, err := a.newServer(cmd.Context(), cfg, nil, log)
			if err != nil {
				return err
			}
			err = s.ServeMCP(cmd.Context(), io.NopCloser(a.stdin), nopCloser{a.stdout}, server.Caller{Name: "mcp", Scopes: []server.Scope{server.Read}})
			if errors.Is(err, context.Canceled) {
				err = nil // an interrupt is how clients end it
			}
			return errors.Join(err, s.Close(context.Background()), collections.Close())
		},
	}
}

// nopCloser keeps standard output open.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
