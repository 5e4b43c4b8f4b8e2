package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

func TestExitCodes(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		err  error
		want int
		hint bool
	}{
		{errors.New("anything"), exitFailed, false},
		{usageError{errors.New("x")}, exitUsage, true},
		{errSkipped, exitSkipped, false},
		{fmt.Errorf("a: %w", retriever.ErrNotFound), exitNoStore, true},
		{fmt.Errorf("a: %w", &retriever.MismatchError{}), exitMismatch, true},
		{fmt.Errorf("a: %w", llm.ErrUnavailable), exitUnreachable, true},
		{fmt.Errorf("a: %w", retriever.ErrUnreachable), exitUnreachable, true},
		{fmt.Errorf("a: %w", retriever.ErrDenied), exitUnreachable, true},
		{fmt.Errorf("a: %w", retriever.ErrBusy), exitFailed, true},
		{fmt.Errorf("a: %w", &retriever.UnknownKeyError{}), exitUsage, true},
	} {
		code, hint := explain(context.Background(), test.err)
		if code != test.want || (hint != "") != test.hint {
			t.Errorf("%v: exit code %d, hint %q; want %d", test.err, code, hint, test.want)
		}
	}
	if code, _ := explain(cancelled, fmt.Errorf("a: %w", context.Canceled)); code != exitInterrupted {
		t.Errorf("interrupted: exit code %d, want %d", code, exitInterrupted)
	}
}

func TestUsageIsExitCodeTwo(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"index"}, program{stdout: &out, stderr: &errs}); code != exitUsage {
		t.Errorf("exit code %d, want %d: %s", code, exitUsage, &errs)
	}
}
