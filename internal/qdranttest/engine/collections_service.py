"""The gRPC services Collections and Qdrant (health)."""
from qdrant_client import grpc as q

from errors import NOT_FOUND, Err
from rpc import rpc

VERSION = "1.18.3"  # told to clients; go-client warns when it is more than one minor away from its own


class Collections(q.CollectionsServicer):
    def __init__(self, shards):
        self.shards = shards

    @rpc
    def Create(self, r):
        self.shards.create(r)
        return q.CollectionOperationResponse(result=True)

    @rpc
    def Get(self, r):
        return q.GetCollectionInfoResponse(result=self.shards.info(r.collection_name))

    @rpc
    def List(self, r):
        return q.ListCollectionsResponse(collections=[q.CollectionDescription(name=n) for n in self.shards.shards])

    @rpc
    def Delete(self, r):
        return q.CollectionOperationResponse(result=self.shards.delete_collection(r.collection_name))

    @rpc
    def Update(self, r):
        self.shards.update_collection(r)
        return q.CollectionOperationResponse(result=True)

    @rpc
    def CollectionExists(self, r):
        return q.CollectionExistsResponse(result=q.CollectionExists(exists=self.shards.exists(r.collection_name)))

    @rpc
    def UpdateAliases(self, r):
        a = dict(self.shards.aliases)
        for x in r.actions:
            k = x.WhichOneof("action")
            if k == "create_alias":
                a[x.create_alias.alias_name] = self.shards.resolve(x.create_alias.collection_name)
            elif k == "delete_alias":
                a.pop(x.delete_alias.alias_name, None)
            elif k == "rename_alias":
                if x.rename_alias.old_alias_name not in a:
                    raise Err(NOT_FOUND, f"Not found: Alias {x.rename_alias.old_alias_name} does not exists!")
                a[x.rename_alias.new_alias_name] = a.pop(x.rename_alias.old_alias_name)
        self.shards.set_aliases(a)
        return q.CollectionOperationResponse(result=True)

    def alias_list(self, keep):
        return q.ListAliasesResponse(aliases=[q.AliasDescription(alias_name=a, collection_name=n)
                                              for a, n in self.shards.aliases.items() if keep(n)])

    @rpc
    def ListCollectionAliases(self, r):
        return self.alias_list(lambda n: n == r.collection_name)

    @rpc
    def ListAliases(self, r):
        return self.alias_list(lambda n: True)


class Health(q.QdrantServicer):
    def HealthCheck(self, r, ctx):
        return q.HealthCheckReply(title="qdrant - vector search engine", version=VERSION, commit="adapter")
