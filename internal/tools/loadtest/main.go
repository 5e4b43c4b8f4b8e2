// Command loadtest offers load to a running waymark serve and prints, in Markdown,
// what became of it.
//
//	go run ./internal/tools/loadtest -keys keys.txt -tenants heavy=10,light=1 QUESTIONS.tsv
//
// Searches are sent by the clock, at random times that do not wait for answers, so
// that a server that falls behind shows it: a search's time runs from when it was due.
// Streams are held open: each of them asks, reads to the end and asks again. Both are
// shared among the tenants as their numbers say. A tenant's key is its first in the
// file, which is the server's own (NAME SCOPES TENANT SECRET); one with the scope
// admin reads /metrics. -leave has that many clients go away in the middle of a
// stream after all else.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// load is what is offered.
type load struct {
	url, keys, tenants string
	streams, leave     int
	searches           float64 // a second
	time               time.Duration
	questions          []string
}

func main() {
	var l load
	flag.StringVar(&l.url, "url", "http://127.0.0.1:8080", "where the server answers")
	flag.StringVar(&l.keys, "keys", "keys.txt", "the server's file of keys, secrets in clear")
	flag.StringVar(&l.tenants, "tenants", "heavy=10,light=1", "tenants and how much of the load each sends")
	flag.IntVar(&l.streams, "streams", 100, "streams at once")
	flag.Float64Var(&l.searches, "searches", 500, "searches a second")
	flag.DurationVar(&l.time, "time", time.Minute, "how long")
	flag.IntVar(&l.leave, "leave", 0, "clients that go away in the middle of a stream afterwards")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := l.run(ctx, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (l load) run(ctx context.Context, questions string) (err error) {
	if l.questions, err = readQuestions(questions); err != nil {
		return err
	}
	tenants, admin, err := l.readTenants()
	if err != nil {
		return err
	}
	watch := &watcher{client: newClient(l.url, admin)}
	if err := watch.look(ctx, "before"); err != nil {
		return err
	}
	until, cancel := context.WithTimeout(ctx, l.time)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { watch.during(ctx, l.time) })
	rng := rand.New(rand.NewPCG(1, 1))
	for _, t := range tenants {
		due := arrivals(l.searches*t.share, l.time, rng)
		all.Go(func() { t.search(ctx, due, l.questions) })
		for i := range int(float64(l.streams)*t.share + 0.5) {
			all.Go(func() { t.stream(until, ctx, i, l.questions) })
		}
	}
	all.Wait()
	left := 0
	for i := 0; i < l.leave && ctx.Err() == nil; i += 50 { // at once
		for k := i; k < min(i+50, l.leave); k++ {
			all.Go(func() { tenants[0].leave(ctx, l.questions[k%len(l.questions)]) })
		}
		all.Wait()
		left = min(i+50, l.leave)
	}
	for _, t := range tenants {
		t.client.http.CloseIdleConnections() // each is a goroutine of the server's
	}
	if err := errors.Join(watch.failed, watch.settle(ctx), ctx.Err()); err != nil {
		return err
	}
	l.report(os.Stdout, tenants, watch, left)
	return nil
}

// readQuestions reads the first column of a table with a heading.
func readQuestions(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.Comma, table.LazyQuotes = '\t', true
	rows, err := table.ReadAll()
	if err != nil {
		return nil, err
	}
	var out []string
	for i, row := range rows {
		if i > 0 {
			out = append(out, row[0])
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: want a heading and at least one question", path)
	}
	return out, nil
}

// readTenants returns those that send load, and the key that reads metrics.
func (l load) readTenants() (tenants []*tenant, admin string, err error) {
	data, err := os.ReadFile(l.keys)
	if err != nil {
		return nil, "", err
	}
	secrets := map[string]string{}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) != 4 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if secrets[f[2]] == "" {
			secrets[f[2]] = f[3]
		}
		if admin == "" && slices.Contains(strings.Split(f[1], ","), "admin") {
			admin = f[3]
		}
	}
	sum := 0.0
	for part := range strings.SplitSeq(l.tenants, ",") {
		name, number, _ := strings.Cut(part, "=")
		weight, err := strconv.ParseFloat(number, 64)
		if err != nil || weight <= 0 || secrets[name] == "" {
			return nil, "", fmt.Errorf("tenants %q: want NAME=NUMBER, the name one that has a key in %s", part, l.keys)
		}
		sum += weight
		tenants = append(tenants, &tenant{name: name, share: weight, client: newClient(l.url, secrets[name])})
	}
	for _, t := range tenants {
		t.share /= sum
	}
	if admin == "" {
		return nil, "", fmt.Errorf("%s has no key with the scope admin, which reads /metrics", l.keys)
	}
	return tenants, admin, nil
}
