#!/usr/bin/env python3
"""A Qdrant gRPC endpoint for tests, answered by Qdrant's own engine in this process.

The official Collections, Points and Qdrant (health) services are served from qdrant-edge-py, the
segment engine as a Python extension. What a server has beyond that engine is added around it:
collections, aliases, groups, queries by point id, request checks, API key and TLS.

    python adapter.py --path DIR [--port N]

It listens on 127.0.0.1 only and serves one call at a time. Once calls are accepted, the line
"READY PORT" goes to standard output. SIGTERM, SIGINT and, with --until-eof, the end of standard
input flush and stop; writes that were answered survive SIGKILL.
docs/testing-qdrant.md has the differences from a server.
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import threading
from concurrent import futures

import grpc
from qdrant_client import grpc as q

import rpc
from collections_service import Collections, Health
from points_service import Points
from shards import Shards


class Key(grpc.ServerInterceptor):
    """Refuses calls without the API key, as a server does: all but the health check."""

    def __init__(self, key):
        self.key = key

    def intercept_service(self, continuation, details):
        metadata = dict(details.invocation_metadata)
        got = metadata.get("api-key", metadata.get("authorization", "").removeprefix("Bearer "))
        if details.method == "/qdrant.Qdrant/HealthCheck" or got == self.key:
            return continuation(details)
        why = "Invalid API key or JWT" if got else "Must provide an API key or an Authorization bearer token"
        return grpc.unary_unary_rpc_method_handler(lambda _, ctx: ctx.abort(grpc.StatusCode.UNAUTHENTICATED, why))


def arguments():
    ap = argparse.ArgumentParser(description="Qdrant's gRPC protocol on 127.0.0.1, answered by the embedded Qdrant engine. For tests.")
    ap.add_argument("--path", metavar="DIR", help="folder of the collections, made or opened again (default: one that is removed at the end)")
    ap.add_argument("--port", type=int, default=0, metavar="N", help="gRPC port on 127.0.0.1 (default: a free one, see the READY line)")
    ap.add_argument("--api-key", metavar="KEY", help="refuse calls without this key")
    ap.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"), help="files of the certificate and key to serve TLS with")
    ap.add_argument("--until-eof", action="store_true", help="stop when standard input ends, as it does when the parent dies")
    return ap.parse_args()


def serve(shards, args):
    server = grpc.server(
        futures.ThreadPoolExecutor(8), interceptors=[Key(args.api_key)] if args.api_key else [],
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0),
                 # go-client pings every 10 s; by default a Python gRPC server closes such a connection (too_many_pings)
                 ("grpc.http2.min_recv_ping_interval_without_data_ms", 1000), ("grpc.http2.max_ping_strikes", 0),
                 ("grpc.keepalive_permit_without_calls", 1)])
    q.add_CollectionsServicer_to_server(Collections(shards), server)
    q.add_PointsServicer_to_server(Points(shards), server)
    q.add_QdrantServicer_to_server(Health(), server)
    address = f"127.0.0.1:{args.port}"
    if args.tls:
        cert, key = (open(f, "rb").read() for f in args.tls)
        port = server.add_secure_port(address, grpc.ssl_server_credentials([(key, cert)]))
    else:
        port = server.add_insecure_port(address)
    server.start()
    print("READY", port, flush=True)
    return server


def wait(until_eof):
    stop = threading.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: stop.set())
    if until_eof:
        def read():
            while os.read(0, 4096):
                pass
            stop.set()
        threading.Thread(target=read, daemon=True).start()
    stop.wait()


def memory():
    """The folder of a file system in memory, where there is one with room: on a disk, each new index of a
    collection waits for it, and a test creates many. In a container it may be too small for a few collections.
    Whoever sets TMPDIR wants the folder there."""
    shm = "/dev/shm"
    if "TMPDIR" in os.environ or not os.access(shm, os.W_OK) or shutil.disk_usage(shm).free < 2 << 30:
        return None
    return shm


def main():
    args = arguments()
    path = args.path or tempfile.mkdtemp(prefix="qdrant-", dir=memory())
    try:
        shards = Shards(path)
        server = serve(shards, args)
        wait(args.until_eof)
        server.stop(1).wait()
        with rpc.LOCK:
            shards.close()
    finally:
        if not args.path:
            shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
