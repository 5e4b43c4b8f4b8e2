package qdrant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/waymark-rag/waymark/retriever"
)

// needs are what older servers lack, the newest first.
var needs = []struct {
	minor   int
	missing string
}{
	{13, "MaxSim of fetched candidates alone where a vector has no graph"},
	{12, "the values of a key (facets)"},
	{10, "the query call, multivectors and inverse document frequencies"},
}

func (s *Store) checkServer(ctx context.Context) error {
	reply, err := call(ctx, s, "asking for its version", func(ctx context.Context, client *pb.Client) (*pb.HealthCheckReply, error) {
		return client.HealthCheck(ctx)
	})
	if err != nil {
		return err
	}
	return checkVersion(s.address, reply.GetVersion())
}

func checkVersion(address, version string) error {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return nil // a build that does not say
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil || major > 1 {
		return nil
	}
	var missing []string
	for _, n := range needs {
		if major < 1 || minor < n.minor {
			missing = append(missing, n.missing)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("qdrant at %s is version %s, which lacks %s: want 1.%d or newer", address, version, strings.Join(missing, "; "), needs[0].minor)
}

// ensureCollection creates the collection if it is not there and may be created.
// Of two processes that do it at once, one creates it and both go on.
func (s *Store) ensureCollection(ctx context.Context) error {
	there, err := call(ctx, s, "looking for the collection", func(ctx context.Context, client *pb.Client) (bool, error) {
		return client.CollectionExists(ctx, s.collection)
	})
	if err != nil {
		return err
	}
	if !there && !s.opts.Create {
		return fmt.Errorf("%w: qdrant at %s has no collection %q", retriever.ErrNotFound, s.address, s.collection)
	}
	if !there && s.opts.Fingerprint.Dim < 1 {
		return errors.New("creating a collection needs the dimension of its vectors: want a fingerprint with one")
	}
	if !there {
		_, err := call(ctx, s, "creating the collection", func(ctx context.Context, client *pb.Client) (struct{}, error) {
			err := client.CreateCollection(ctx, s.createRequest())
			if code(err) == codes.AlreadyExists || code(err) == codes.InvalidArgument && strings.Contains(err.Error(), "already exists") {
				err = nil
			}
			return struct{}{}, err
		})
		if err != nil {
			return err
		}
	}
	if s.opts.Layout.ShardPerTenant {
		return s.ensureShards(ctx)
	}
	return nil
}

// The shard keys of custom sharding: one for the collection's description, and
// one for each tenant.
const descriptionShard = "waymark"

func tenantShard(tenant string) string { return "tenant:" + tenant }

func selector(key string) *pb.ShardKeySelector {
	return &pb.ShardKeySelector{ShardKeys: []*pb.ShardKey{pb.NewShardKeyKeyword(key)}}
}

// descriptionSelector says where the collection's description is.
func (s *Store) descriptionSelector() *pb.ShardKeySelector {
	if s.opts.Layout.ShardPerTenant {
		return selector(descriptionShard)
	}
	return nil
}

func (s *Store) ensureShards(ctx context.Context) error {
	s.shard = selector(tenantShard(s.opts.Tenant))
	if s.opts.ReadOnly {
		return nil
	}
	for _, key := range []string{descriptionShard, tenantShard(s.opts.Tenant)} {
		_, err := call(ctx, s, "creating a shard key", func(ctx context.Context, client *pb.Client) (struct{}, error) {
			err := client.CreateShardKey(ctx, s.collection, &pb.CreateShardKey{ShardKey: pb.NewShardKeyKeyword(key)})
			if err != nil && strings.Contains(err.Error(), "already exist") {
				err = nil
			}
			return struct{}{}, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// describe returns what the collection says of itself. One that is to be created
// and is still empty is filled first; of several processes that do so at once, the
// description of one stays and all of them read it.
func (s *Store) describe(ctx context.Context) (description, error) {
	d, there, err := s.readDescription(ctx)
	if err != nil || there {
		return d, err
	}
	n, err := s.count(ctx, nil)
	if err != nil {
		return description{}, err
	}
	switch {
	case n == 0 && !s.opts.Create:
		return description{}, fmt.Errorf("%w: collection %q of qdrant at %s is empty", retriever.ErrNotFound, s.collection, s.address)
	case n == 0:
		if err := s.fill(ctx); err != nil {
			return description{}, err
		}
	}
	if d, there, err = s.readDescription(ctx); err != nil || there { // there since the first look, perhaps by another process
		return d, err
	}
	return description{}, fmt.Errorf("collection %q of qdrant at %s was not made by waymark and holds %d points: want another name", s.collection, s.address, n)
}

func (s *Store) readDescription(ctx context.Context) (d description, there bool, err error) {
	points, err := call(ctx, s, "reading the collection's description", func(ctx context.Context, client *pb.Client) ([]*pb.RetrievedPoint, error) {
		return client.Get(ctx, &pb.GetPoints{
			CollectionName: s.collection, Ids: []*pb.PointId{collectionID}, WithPayload: pb.NewWithPayload(true), ShardKeySelector: s.descriptionSelector(),
		})
	})
	if err != nil || len(points) == 0 {
		return d, false, err
	}
	if err := json.Unmarshal([]byte(points[0].GetPayload()[keyCollection].GetStringValue()), &d); err != nil || d.PartLandmarks < 1 {
		return d, false, fmt.Errorf("collection %q: its description cannot be read: want a collection that waymark has made", s.collection)
	}
	return d, true, nil
}

// fill gives a new collection its indexes and its description, which comes last:
// a collection that has one is complete.
func (s *Store) fill(ctx context.Context) error {
	if err := s.createIndexes(ctx, fixedIndexes); err != nil {
		return err
	}
	d, err := json.Marshal(description{formatVersion, s.opts.Layout.PartLandmarks, s.opts.Fingerprint})
	if err != nil {
		return err
	}
	_, err = call(ctx, s, "describing the collection", func(ctx context.Context, client *pb.Client) (*pb.UpdateResult, error) {
		wait := true
		return client.Upsert(ctx, &pb.UpsertPoints{
			CollectionName: s.collection, Wait: &wait, ShardKeySelector: s.descriptionSelector(),
			UpdateMode: pb.UpdateMode_InsertOnly.Enum(), // not over that of another process
			Points: []*pb.PointStruct{{
				Id: collectionID, Vectors: pb.NewVectorsMap(map[string]*pb.Vector{}),
				Payload: map[string]*pb.Value{keyCollection: pb.NewValueString(string(d))},
			}},
		})
	})
	return err
}

func (s *Store) info(ctx context.Context) (*pb.CollectionInfo, error) {
	return call(ctx, s, "reading the collection's settings", func(ctx context.Context, client *pb.Client) (*pb.CollectionInfo, error) {
		return client.GetCollectionInfo(ctx, s.collection)
	})
}
