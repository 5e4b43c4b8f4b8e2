package main

import (
	"context"
	"errors"

	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

// The exit codes, as README.md and the help text list them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitSkipped     = 3
	exitNoStore     = 10
	exitMismatch    = 11
	exitUnreachable = 12
	exitInterrupted = 130
)

// errSkipped ends a run that left documents out.
var errSkipped = reportedError{errors.New("some documents were skipped")}

// reportedError is one that the command's own output has told already.
type reportedError struct{ error }

func (e reportedError) Unwrap() error { return e.error }

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// explain returns the exit code for an error and what to do about it.
func explain(ctx context.Context, err error) (code int, hint string) {
	var usage usageError
	var mismatch *retriever.MismatchError
	var unknown *retriever.UnknownKeyError
	switch {
	case errors.Is(err, errSkipped):
		return exitSkipped, ""
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted, "what was stored stays; run the command again to go on"
	case errors.As(err, &usage):
		return exitUsage, "waymark --help and waymark COMMAND --help tell what there is"
	case errors.As(err, &mismatch):
		return exitMismatch, "use the settings it was indexed with, name another place (local:PATH, qdrant://HOST:6334/COLLECTION), or delete the file or collection and index again"
	case errors.Is(err, retriever.ErrNotFound):
		return exitNoStore, "run waymark index DIR first, in this folder or with the same --store and --tenant"
	case errors.Is(err, retriever.ErrUnreachable):
		return exitUnreachable, "is the server running, and the port that of gRPC, 6334 and not 6333? With TLS the address starts with qdrants://, and qdrant.ca_file names who may vouch for the server"
	case errors.Is(err, retriever.ErrDenied):
		return exitUnreachable, "set the key in the variable that qdrant.api_key_env names, WAYMARK_QDRANT_API_KEY by default, or in a file that qdrant.api_key_file names; those of a second server in an export with --to-set"
	case errors.Is(err, retriever.ErrBusy):
		return exitFailed, "wait for the other run to end, or stop it"
	case errors.As(err, &unknown):
		return exitUsage, "filter by one of the keys named"
	case errors.Is(err, onnx.ErrLibrary):
		return exitFailed, "make deps fetches it; or name one with WAYMARK_ONNXRUNTIME=PATH"
	case errors.Is(err, llm.ErrUnavailable):
		return exitUnreachable, "is the server running, and llm.base_url right? --llm extractive answers without one"
	case errors.Is(err, llm.ErrDenied):
		return exitUnreachable, "set the key in the variable that llm.api_key_env names, WAYMARK_LLM_API_KEY by default"
	}
	return exitFailed, ""
}
