"""Plugins that attack the host from a worker, by the memory that both share.

Operations named Evil pass the hostile plugin. The honest clients pass another plugin, in a worker of its own.
"""

import http.client
import json
import os
import socket
import time

from hostile.scene import Broken, HonestClient

MANIFEST = """carabiner: 1
serve: {forward-headers: [x-user]}
plugins:
  - name: hostile
    file: ../worker.so
    grants: [fetch]
    config: {mode: MODE, target: "http://127.0.0.1:SINK/"}
    isolation: {mode: worker, lanes: 1, hang: 1s, restart: {backoff: 1ms, maximum: 5ms, after: 1000, within: 1s}}
  - {name: honest, file: ../worker.so, config: {mode: wait}, isolation: worker}
chain: {graphql: [honest], cache: [], http: [response-code]}
rules: [{when: {operation: Evil}, chain: {graphql: [hostile, honest]}}]
"""
# Seconds that an honest request may take beside an attack, in a release build.
LONGEST = 2
# Bytes that each second of an attack may add to the log.
LOG_BYTES = 2 << 20


class Sink:
    """A server that accepts connections and reads nothing."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(500)
        self.port = self.socket.getsockname()[1]


SINK = Sink()


def manifest(mode):
    return MANIFEST.replace("MODE", mode).replace("SINK", str(SINK.port))


def evil(scene, timeout=20):
    """How long the gateway takes for an operation that passes the hostile plugin."""
    begin = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", scene.port, timeout=timeout)
    try:
        connection.request("POST", "/graphql", json.dumps({"query": "query Evil { tag }"}), {"Content-Type": "application/json"})
        connection.getresponse().read()
    finally:
        connection.close()
    return time.monotonic() - begin


def log_bytes(scene):
    return (scene.folder / "gateway.log").stat().st_size


def stall_others(scene, until):
    """Long texts to check, whose checks must not delay the calls of other workers."""
    with HonestClient(scene.port, "beside") as client:
        evil(scene)
        time.sleep(min(5, max(2, until - time.monotonic())))
    if client.longest > LONGEST:
        raise Broken(f"a request of another worker took {client.longest:.1f} s")
    return f"{client.asked} requests, the longest {client.longest * 1000:.0f} ms"


def pretend_to_run(scene, until):
    """A hook without an end, beside a thread that names another hook as running each 0.5 ms."""
    longest = max(evil(scene) for _ in range(2))
    if longest > 4:
        raise Broken(f"a hook ran for {longest:.1f} s with hang: 1s")
    return f"killed after {longest:.1f} s"


def write_long_errors(scene, until):
    """Errors with texts of 32 MiB."""
    begin, before = time.monotonic(), log_bytes(scene)
    for _ in range(3):
        evil(scene)
    written = log_bytes(scene) - before
    if written > LOG_BYTES * (time.monotonic() - begin + 1):
        raise Broken(f"{written} bytes in the log")
    return f"{written} bytes in the log"


def drive_terminals(scene, until):
    """Lines with C1 controls, reordered characters and line separators."""
    evil(scene)
    time.sleep(0.5)
    log = (scene.folder / "gateway.log").read_bytes()
    if b"MARK" not in log or any(sequence in log for sequence in [b"\xc2\x9b", b"\xe2\x80\xae", b"\xe2\x80\xa8"]):
        raise Broken("the log has characters that drive a terminal")
    return "escaped"


def hold_requests(scene, until):
    """192 requests with bodies of 4 MiB to a server that reads nothing."""
    before = len(os.listdir(f"/proc/{scene.gateway.pid}/fd"))
    evil(scene)
    time.sleep(1)
    added = len(os.listdir(f"/proc/{scene.gateway.pid}/fd")) - before
    if added > 128:
        raise Broken(f"{added} more descriptors of the gateway")
    return f"{added} descriptors"


# Each attack with its mode, and its limit in megabytes.
ATTACKS = {
    stall_others: ("check", 192), pretend_to_run: ("flip", 96), write_long_errors: ("error", 192), drive_terminals: ("print", 96),
    hold_requests: ("fetch", 400)}
