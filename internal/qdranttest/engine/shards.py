"""Collections: one engine shard each, and what the engine lacks around them."""
import json
import os
import shutil

import qdrant_edge as e
from qdrant_client import grpc as q
from qdrant_client.http import models as m

import search
import settings
from convert import filter_, filter_keys, order_by, payload_selector
from errors import EXISTS, INVALID, NOT_FOUND, Err

MODES = {q.UpdateMode.Upsert: e.UpdateMode.Upsert, q.UpdateMode.InsertOnly: e.UpdateMode.InsertOnly,
         q.UpdateMode.UpdateOnly: e.UpdateMode.UpdateOnly}


def write_whole(path, content):
    with open(path + ".tmp", "wb") as f:
        f.write(content)
    os.replace(path + ".tmp", path)


class Shards:
    """A collection lies in root/NAME/: the engine's shard, and create.pb, the CreateCollection request
    with what later requests changed. The aliases lie in root/aliases.json."""

    def __init__(self, root):
        self.root, self.shards, self.created = root, {}, {}
        os.makedirs(root, exist_ok=True)
        self.alias_file = os.path.join(root, "aliases.json")
        self.aliases = {}
        if os.path.exists(self.alias_file):
            with open(self.alias_file) as f:
                self.aliases = json.load(f)
        for name in sorted(os.listdir(root)):
            if os.path.exists(self.file(name)):
                with open(self.file(name), "rb") as f:
                    self.created[name] = q.CreateCollection.FromString(f.read())
                self.shards[name] = e.EdgeShard.load(self.folder(name))

    def file(self, name):
        return os.path.join(self.root, name, "create.pb")

    def folder(self, name):
        return os.path.join(self.root, name, "shard")

    def close(self):
        for s in self.shards.values():
            s.flush()
            s.close()

    # ---------------------------------------------------------------- collections

    def set_aliases(self, aliases):
        self.aliases = aliases
        write_whole(self.alias_file, json.dumps(aliases).encode())

    def exists(self, name):
        return self.aliases.get(name, name) in self.shards

    def resolve(self, name):
        name = self.aliases.get(name, name)
        if name not in self.shards:
            raise Err(NOT_FOUND, f"Not found: Collection `{name}` doesn't exist!")
        return name

    def shard(self, name):
        return self.shards[self.resolve(name)]

    def create(self, r):
        name = r.collection_name
        if self.exists(name):
            raise Err(EXISTS, f"Wrong input: Collection `{name}` already exists!")
        if not name or len(name) > 255 or any(c in name for c in '<>:"/\\|?*\0\x1f') or name in (".", ".."):
            raise Err(INVALID, f"Validation error in body: [collection_name: collection name `{name}` is not valid]")
        config = settings.engine_config(r)
        shutil.rmtree(os.path.join(self.root, name), ignore_errors=True)  # of a process killed in between
        os.makedirs(os.path.join(self.root, name))
        self.shards[name] = e.EdgeShard.create(self.folder(name), config)
        write_whole(self.file(name), r.SerializeToString())
        self.created[name] = r

    def update_collection(self, r):
        """Takes the new settings over and, as a server does after every change of them, builds the indexes that
        they call for, but before it answers."""
        name = self.resolve(r.collection_name)
        created = q.CreateCollection()
        created.CopyFrom(self.created[name])
        settings.merge_update(created, r)
        config = settings.engine_config(created)
        shard = self.shards[name]
        shard.flush()
        shard.close()
        self.shards[name] = e.EdgeShard.load(self.folder(name), config)
        write_whole(self.file(name), created.SerializeToString())
        self.created[name] = created
        self.shards[name].optimize()

    def delete_collection(self, name):
        if not self.exists(name):
            return False
        name = self.resolve(name)
        os.remove(self.file(name))  # without it there is no collection
        self.shards.pop(name).close()
        self.created.pop(name)
        shutil.rmtree(os.path.join(self.root, name), ignore_errors=True)
        self.set_aliases({a: c for a, c in self.aliases.items() if c != name})
        return True

    def info(self, name):
        name = self.resolve(name)
        return settings.collection_info(self.created[name], self.shards[name].info())

    def create_index(self, name, field, schema):
        self.shard(name).update(e.UpdateOperation.create_field_index(field, schema))

    def delete_index(self, name, field):
        self.shard(name).update(e.UpdateOperation.delete_field_index(field))

    def check_filter(self, name, f, update=False):
        """Strict mode's rule that a filter looks only at fields with an index."""
        strict = self.created[self.resolve(name)].strict_mode_config
        rule = "unindexed_filtering_update" if update else "unindexed_filtering_retrieve"
        if f is None or not strict.enabled or not strict.HasField(rule) or getattr(strict, rule):
            return
        indexed = self.shard(name).info().payload_schema
        for key in filter_keys(f):
            if key not in indexed:
                raise Err(INVALID, f'Bad request: Index required but not found for "{key}". '
                                   "Help: Create an index for this key or use a different filter.")

    # ---------------------------------------------------------------- points

    def upsert(self, name, points, only, mode):
        """only is a filter on the points that may be replaced, or None."""
        self.check_filter(name, only, update=True)
        self.shard(name).update(e.UpdateOperation.upsert_points(points, filter_(only), MODES.get(mode)))

    def update_vectors(self, name, points, only):
        self.check_filter(name, only, update=True)
        self.shard(name).update(e.UpdateOperation.update_vectors(points, filter_(only)))

    def apply(self, name, op, selector, *args):
        """op on the points of a selector: the engine's <op> takes ids, <op>_by_filter a filter."""
        if isinstance(selector, m.FilterSelector):
            self.check_filter(name, selector.filter, update=True)
            u = getattr(e.UpdateOperation, op + "_by_filter")(filter_(selector.filter), *args)
        else:
            u = getattr(e.UpdateOperation, op)(selector.points, *args)
        self.shard(name).update(u)

    def get(self, name, ids, with_payload, with_vectors):
        return self.shard(name).retrieve(ids, payload_selector(with_payload), with_vectors)

    def count(self, name, f, exact):
        self.check_filter(name, f)
        return self.shard(name).count(e.CountRequest(exact=exact, filter=filter_(f)))

    def scroll(self, name, f, limit, offset, with_payload, with_vectors, order):
        self.check_filter(name, f)
        return self.shard(name).scroll(e.ScrollRequest(
            offset=offset, limit=limit, filter=filter_(f), with_payload=payload_selector(with_payload),
            with_vector=with_vectors, order_by=order_by(order)))

    def facet(self, name, key, limit, exact, f):
        self.check_filter(name, f)
        return [(h.value, h.count) for h in self.shard(name).facet(e.FacetRequest(key, limit, exact, filter_(f)))]

    def query(self, name, r):
        for f in search.filters(r):
            self.check_filter(name, f)
        return search.points(self.shard(name), r)

    def query_groups(self, name, r, group_by, limit, size):
        for f in search.filters(r):
            self.check_filter(name, f)
        return search.groups(self.shard(name), r, group_by, limit, size)
