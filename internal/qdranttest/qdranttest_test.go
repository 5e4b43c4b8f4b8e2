package qdranttest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// orphan is set in a process that is this test binary started to be killed.
const orphan = "WAYMARK_TEST_QDRANT_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(orphan) == "" {
		os.Exit(m.Run())
	}
	p, err := engine()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(p.address)
	io.Copy(io.Discard, os.Stdin) // until it is killed
}

// fill makes a collection of n points with two landmarks each.
func fill(t *testing.T, c *qdrant.Client, name string, n int) {
	t.Helper()
	err := c.CreateCollection(t.Context(), &qdrant.CreateCollection{
		CollectionName: name,
		VectorsConfig: qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{
			"doc": {Size: 4, Distance: qdrant.Distance_Cosine},
			"landmarks": {Size: 4, Distance: qdrant.Distance_Cosine, HnswConfig: &qdrant.HnswConfigDiff{M: qdrant.PtrOf(uint64(0))},
				MultivectorConfig: &qdrant.MultiVectorConfig{Comparator: qdrant.MultiVectorComparator_MaxSim}},
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var points []*qdrant.PointStruct
	for i := range n {
		v := []float32{1, float32(i), 0, 0}
		points = append(points, &qdrant.PointStruct{
			Id: qdrant.NewIDNum(uint64(i)),
			Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{
				"doc": qdrant.NewVectorDense(v), "landmarks": qdrant.NewVectorMulti([][]float32{v, {0, 0, 1, float32(i)}}),
			}),
			Payload: qdrant.NewValueMap(map[string]any{"n": i, "big": int64(1<<60) + int64(i), "half": float64(i) / 2, "even": i%2 == 0}),
		})
	}
	if _, err := c.Upsert(t.Context(), &qdrant.UpsertPoints{CollectionName: name, Points: points, Wait: qdrant.PtrOf(true)}); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, c *qdrant.Client, name string) uint64 {
	t.Helper()
	n, err := c.Count(t.Context(), &qdrant.CountPoints{CollectionName: name, Exact: qdrant.PtrOf(true)})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestKillAndRestart(t *testing.T) {
	s := Start(t)
	address := s.Address
	c := Client(t, address)
	fill(t, c, "kept", 10)
	s.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := c.ListCollections(ctx); err == nil {
		t.Error("a killed engine still answers")
	}
	s.Restart()
	if s.Address != address {
		t.Errorf("after Restart the engine listens on %s, want %s", s.Address, address)
	}
	got, err := Client(t, address).Get(t.Context(), &qdrant.GetPoints{
		CollectionName: "kept", Ids: []*qdrant.PointId{qdrant.NewIDNum(7)},
		WithPayload: qdrant.NewWithPayload(true), WithVectors: qdrant.NewWithVectorsInclude("landmarks"),
	})
	if err != nil || len(got) != 1 {
		t.Fatalf("after Restart Get = %v, %v, want the point", got, err)
	}
	p := got[0]
	if n, big, half := p.Payload["n"].GetIntegerValue(), p.Payload["big"].GetIntegerValue(), p.Payload["half"].GetDoubleValue(); n != 7 || big != 1<<60+7 || half != 3.5 {
		t.Errorf("the payload came back as %v", p.Payload)
	}
	if rows := p.Vectors.GetVectors().Vectors["landmarks"].GetMultiDense().GetVectors(); len(rows) != 2 || rows[0].Data[1] < 0.98 {
		t.Errorf("the landmarks came back as %v", rows)
	}
	if n := count(t, Client(t, address), "kept"); n != 10 {
		t.Errorf("after Restart there are %d points, want 10", n)
	}
}

func TestShared(t *testing.T) {
	c := Client(t, Shared(t))
	var names []string
	t.Run("in use", func(t *testing.T) {
		names = []string{Collection(t), Collection(t)}
		if names[0] == names[1] {
			t.Errorf("two collections are called %q", names[0])
		}
		fill(t, c, names[0], 3)
	})
	for _, name := range names {
		if exists, err := c.CollectionExists(t.Context(), name); exists || err != nil {
			t.Errorf("collection %q: exists = %v, %v after its test, want it dropped", name, exists, err)
		}
	}
}

func TestKeyAndTLS(t *testing.T) {
	s := StartWith(t, Options{APIKey: "secret", TLS: true})
	ca := x509.NewCertPool()
	if !ca.AppendCertsFromPEM(s.RootCAs) {
		t.Fatal("RootCAs holds no certificate")
	}
	for key, want := range map[string]codes.Code{"secret": codes.OK, "": codes.Unauthenticated, "Secret": codes.Unauthenticated} {
		host, portText, _ := net.SplitHostPort(s.Address)
		port, _ := strconv.Atoi(portText)
		c, err := qdrant.NewClient(&qdrant.Config{Host: host, Port: port, APIKey: key, UseTLS: true,
			TLSConfig: &tls.Config{RootCAs: ca}, SkipCompatibilityCheck: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.GetCollectionsClient().List(t.Context(), &qdrant.ListCollectionsRequest{})
		if got := status.Code(err); got != want {
			t.Errorf("with the key %q: %v, want %v", key, err, want)
		}
		if _, err := c.HealthCheck(t.Context()); err != nil {
			t.Errorf("health check with the key %q: %v, want none to be needed", key, err)
		}
	}
	plain := Client(t, s.Address)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := plain.HealthCheck(ctx); err == nil {
		t.Error("an engine with TLS answers without")
	}
}

// endTimeout is how long an engine may take to end after its parent.
const endTimeout = 20 * time.Second

// TestEndsWithItsParent kills a test binary that shares an engine.
func TestEndsWithItsParent(t *testing.T) {
	tmp := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orphan+"=1", "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // kept open
		t.Fatal(err)
	}
	var messages strings.Builder
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address := strings.TrimSpace(line)
	if err != nil {
		cmd.Wait()
		t.Fatalf("the other binary said %q, %v: %s", line, err, &messages)
	}
	if _, err := Client(t, address).HealthCheck(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(tmp); len(left) != 1 {
		t.Errorf("the engine keeps its collections in %v, want one folder", left)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for deadline := time.Now().Add(endTimeout); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		left, _ := os.ReadDir(tmp)
		if err != nil && len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v after its parent was killed, the engine listens: %v, and its folder holds %v", endTimeout, err == nil, left)
		}
	}
}
