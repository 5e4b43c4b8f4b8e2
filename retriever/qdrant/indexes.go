package qdrant

import (
	"context"

	pb "github.com/qdrant/go-client/qdrant"
)

// loadIndexes notes which fields of the payload have an index.
func (s *Store) loadIndexes(ctx context.Context) error {
	info, err := s.info(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for field := range info.GetPayloadSchema() {
		s.indexes[field] = true
	}
	return nil
}

func (s *Store) hasIndex(field string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.indexes[field]
}

// indexed reports whether a field has an index, which another process may have
// created since the last look.
func (s *Store) indexed(ctx context.Context, field string) (bool, error) {
	if s.hasIndex(field) {
		return true, nil
	}
	err := s.loadIndexes(ctx)
	return s.hasIndex(field), err
}

func (s *Store) createIndexes(ctx context.Context, wanted []index) error {
	for _, i := range wanted {
		if s.hasIndex(i.key) {
			continue
		}
		_, err := call(ctx, s, "creating an index", func(ctx context.Context, client *pb.Client) (*pb.UpdateResult, error) {
			return client.CreateFieldIndex(ctx, i.request(s.collection))
		})
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.indexes[i.key] = true
		s.mu.Unlock()
	}
	return nil
}
