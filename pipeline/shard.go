package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several shares of a set of documents, so that as many processes
// can index the set at once. Which documents are in it depends on their IDs alone:
// it is the same on every machine and in every version. The zero value is the whole
// set.
type Shard struct {
	Number, Of int // Number counts from 1
}

// ParseShard reads 2/8, the second of eight.
func ParseShard(s string) (Shard, error) {
	number, of, found := strings.Cut(s, "/")
	n, err1 := strconv.Atoi(number)
	m, err2 := strconv.Atoi(of)
	if !found || err1 != nil || err2 != nil || n < 1 || n > m {
		return Shard{}, fmt.Errorf("shard %q: want NUMBER/OF, from 1/8 to 8/8 for eight", s)
	}
	return Shard{n, m}, nil
}

func (s Shard) validate() error {
	if s != (Shard{}) && (s.Number < 1 || s.Number > s.Of) {
		return fmt.Errorf("shard %d of %d: want a number from 1 to the second", s.Number, s.Of)
	}
	return nil
}

// String writes s as ParseShard reads it.
func (s Shard) String() string {
	if s == (Shard{}) {
		return "1/1"
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// Has reports whether a document is in the share.
func (s Shard) Has(id string) bool {
	if s.Of <= 1 {
		return true
	}
	sum := sha256.Sum256([]byte(id)) // spreads IDs that are alike; the start is as good as the whole
	return binary.BigEndian.Uint64(sum[:])%uint64(s.Of) == uint64(s.Number-1)
}
