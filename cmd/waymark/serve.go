package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/server"
	"github.com/waymark-rag/waymark/server/web"
)

func newServe(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the index over HTTP: a web page, and the APIs that clients know",
		Args:  usageArgs(cobra.NoArgs),
		Long: `Serve answers over HTTP: a web page to ask, with the documents beside the answer,
and the APIs of OpenAI (chat, embeddings), Cohere and TEI (rerank, embed), LibreChat
and MCP; docs/http-api.md has them all. The index is made if it is not there.

Without API keys it listens only on this machine. Keys stand in the variable
WAYMARK_SERVER_KEYS or in the file that server.keys_file names, one a line:
NAME SCOPES TENANT SECRET. An interrupt lets answers under way finish; a second one
ends the program at once.`,
		Example: "  waymark serve\n  waymark serve --listen :8080 --set server.keys_file=keys.txt --set server.public_url=https://docs.example",
	}
	cmd.Flags().String("listen", "", "address to listen on (default 127.0.0.1:8080)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := a.config(changed(cmd, map[string]string{"listen": "server.listen"})...)
		if err != nil {
			return err
		}
		return a.serve(cmd.Context(), cfg)
	}
	return cmd
}

// serve serves until ctx ends.
func (a *app) serve(ctx context.Context, cfg configs.Config) error {
	keys, err := a.serverKeys(cfg)
	if err != nil {
		return err
	}
	if keys == nil && !onLoopback(cfg.Server.Listen) {
		return usageError{fmt.Errorf("server.listen %q: other machines could reach it and there are no API keys: set up keys with server.keys_file, or listen on 127.0.0.1", cfg.Server.Listen)}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Server.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	defer listener.Close()
	log := slog.New(slog.NewTextHandler(a.stderr, nil))
	if cfg.Server.TracesURL != "" {
		stop, err := server.StartTraces(ctx, cfg.Server.TracesURL, version())
		if err != nil {
			return err
		}
		defer func() {
			if err := stop(context.WithoutCancel(ctx)); err != nil {
				log.Warn("sending traces", "error", err)
			}
		}()
	}
	collections, s, err := a.newServer(ctx, cfg, keys, log)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "serving on http://%s\n", listener.Addr())
	err = serveUntil(ctx, s, listener, cfg)
	return errors.Join(err, collections.Close())
}

// newServer builds the server of the settings; the collections are to be closed.
func (a *app) newServer(ctx context.Context, cfg configs.Config, keys *server.Keys, log *slog.Logger) (*wire.Collections, *server.Server, error) {
	search, err := (&searchFlags{}).options(cfg)
	if err != nil {
		return nil, nil, err
	}
	collections, err := wire.OpenCollections(ctx, cfg, a.getenv, log)
	if err != nil {
		return nil, nil, err
	}
	c := cfg.Server
	opts := server.Options{
		Collections:     collections,
		Embedder:        collections.Model,
		Model:           collections.Model.Name,
		Digest:          collections.Model.Digest,
		Search:          search,
		Passages:        cfg.Answer.Passages,
		Origins:         c.Origins,
		PublicURL:       c.PublicURL,
		LibreChatSecret: a.getenv(c.LibreChatSecretEnv),
		Limits: server.Limits{
			Body: c.BodyBytes, Upload: c.UploadBytes, Request: c.RequestTimeout, Answer: c.AnswerTimeout,
			Concurrent: c.Concurrent, Answers: c.Answers, Waiting: c.Waiting, Rate: c.Rate, Collections: c.MaxCollections,
		},
		Page:    web.Handler(),
		Log:     log,
		Version: version(),
	}
	if keys != nil {
		opts.Authenticate = keys.Authenticate
	}
	s, err := server.New(opts)
	if err != nil {
		return nil, nil, errors.Join(err, collections.Close())
	}
	return collections, s, nil
}

// serverKeys reads the API keys, from the file if one is named; nil means that there
// are none.
func (a *app) serverKeys(cfg configs.Config) (*server.Keys, error) {
	text := a.getenv(cfg.Server.KeysEnv)
	if cfg.Server.KeysFile != "" {
		data, err := os.ReadFile(cfg.Server.KeysFile)
		if err != nil {
			return nil, fmt.Errorf("server.keys_file: %w", err)
		}
		text = string(data)
	} else if text == "" {
		return nil, nil
	}
	return server.ParseKeys(text)
}

// onLoopback reports whether only this machine reaches an address. Of names localhost
// alone is taken at its word.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serveUntil serves until ctx ends and then lets what goes on finish, for as long as
// the settings allow.
func serveUntil(ctx context.Context, s *server.Server, listener net.Listener, cfg configs.Config) error {
	hs := s.HTTPServer()
	served := make(chan error, 1)
	go func() { served <- hs.Serve(listener) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.Server.ShutdownTimeout)
	defer cancel()
	s.Drain()
	if shut := hs.Shutdown(ending); shut != nil {
		err = errors.Join(err, fmt.Errorf("some requests did not end within %v and were cut", cfg.Server.ShutdownTimeout), hs.Close())
	}
	if closed := s.Close(ending); closed != nil {
		err = errors.Join(err, errors.New("an upload was not indexed to its end; send it again"))
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
