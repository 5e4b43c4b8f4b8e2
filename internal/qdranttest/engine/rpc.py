"""What every call of the gRPC services has in common."""
import threading
import time
import traceback

import grpc

from errors import INVALID, NOT_FOUND, Err

LOCK = threading.RLock()  # calls are served one at a time


def rpc(fn):
    """Serialises calls, turns exceptions into gRPC statuses, fills in the time of the answer."""
    def call(self, req, ctx):
        start = time.monotonic()
        try:
            with LOCK:
                r = fn(self, req)
        except Err as x:
            ctx.abort(x.code, x.msg)
        except Exception as x:  # the engine's own input errors
            s = str(x)
            if s.startswith("No point with id"):
                ctx.abort(NOT_FOUND, f"Not found: {s} found")
            traceback.print_exc()  # the Go side shows it when the test fails
            ctx.abort(INVALID, s if s.startswith("Wrong input") else "Wrong input: " + s)
        except BaseException as x:  # a panic of the engine; without an answer the client would wait for ever
            traceback.print_exc()
            ctx.abort(grpc.StatusCode.INTERNAL, f"engine panic, restart it: {x}")
        if "time" in r.DESCRIPTOR.fields_by_name:
            r.time = time.monotonic() - start
        return r
    return call
