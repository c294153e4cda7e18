"""The scene of an attack: an upstream, a gateway under attack, and honest clients beside the hostile ones."""

import http.client
import json
import pathlib
import socket
import struct
import sys
import time

from gateway import Gateway
from loop import Client
from machine import Failure, Machine, resident_kb

HERE = pathlib.Path(__file__).parent
# The time limit of a response during an attack, in seconds. An idle gateway takes milliseconds; a debug build on a busy machine
# takes a thousand times as long.
PATIENCE = 60
# The growth that is allowed for the gateway in one attack, in MB, in addition to the attack's own limit.
MEGABYTES = 96
QUERY = "query Honest($tag: String) { tag }"


class Broken(Failure):
    """The gateway violated an expectation."""


def request_bytes(tag, query=QUERY, fields=b"", **variables):
    """A complete POST with one operation."""
    body = json.dumps({"query": query, "variables": {"tag": tag, **variables}}).encode()
    return (b"POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n" + fields
            + b"Content-Length: %d\r\n\r\n" % len(body) + body)


class Wire:
    """A connection for arbitrary bytes."""

    def __init__(self, port, timeout=PATIENCE):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """False if the other side has closed."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def send_unread(self, data, seconds):
        """Sends as long as the other side reads. Returns the number of sent bytes."""
        taken, end = 0, time.monotonic() + seconds
        self.socket.settimeout(0.3)
        try:
            while taken < len(data) and time.monotonic() < end:
                taken += self.socket.send(data[taken : taken + (1 << 16)])
        except OSError:
            pass
        return taken

    def receive(self):
        """The next bytes; empty at the end of the connection."""
        try:
            return self.socket.recv(1 << 16)
        except ConnectionError:
            return b""

    def more(self):
        piece = self.receive()
        if not piece:
            raise EOFError
        self.buffer += piece

    def response(self):
        """One response: its status and body. EOFError if the connection ends first."""
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        text, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        line, *fields = text.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        length = int(headers.get("content-length", 0))
        while len(self.buffer) < length:
            self.more()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return int(line.split()[1]), body

    def rest(self, seconds):
        """All bytes until the end of the connection, or until nothing arrives for some seconds."""
        self.socket.settimeout(seconds)
        try:
            while True:
                piece = self.receive()
                if not piece:
                    return self.buffer
                self.buffer += piece
        except TimeoutError:
            return self.buffer

    def reset(self):
        """Resets the connection."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class HonestClient(Client):
    """Checks that each response is its own."""

    def __init__(self, port, name):
        super().__init__(port, PATIENCE)
        self.tag_prefix, self.asked, self.longest = name, 0, 0.0

    def turn(self):
        tag, begin = f"{self.tag_prefix}-{self.asked}", time.monotonic()
        if response := self.ask(json.dumps({"query": QUERY, "variables": {"tag": tag}})):
            status, _, text = response
            if status != 200 or (json.loads(text).get("data") or {}).get("tag") != tag:
                self.problems.append(f"an honest client asked for {tag} and got {status}: {text[:300]}")
        self.asked += 1
        self.longest = max(self.longest, time.monotonic() - begin)
        self.over.wait(0.01)


class Scene(Machine):
    """A gateway and its upstream, for the attacks of one family."""

    def __init__(self, carabiner, folder, manifest="", options=(), warm_up=True, **environment):
        super().__init__(folder)
        try:
            self.begin(carabiner, manifest or "carabiner: 1\nserve: {forward-headers: [x-user]}\n", options, environment)
            for n in range(200 if warm_up else 0):
                self.ask(f"warm-{n}")
            self.baseline = self.megabytes()
            self.longest_health()
        except BaseException:
            self.end()
            raise

    def begin(self, carabiner, manifest, options, environment):
        upstream = self.start_piped("upstream", [sys.executable, HERE / "upstream.py"])
        self.upstream_port, self.other_port = (int(port) for port in upstream.stdout.readline().split())
        chain = self.folder / "chain.yaml"
        chain.write_text(manifest.replace("UPSTREAM", f"127.0.0.1:{self.upstream_port}"))
        gateway = Gateway(
            self, carabiner, chain, "--endpoint", f"http://127.0.0.1:{self.upstream_port}/graphql", *options,
            SWIFT_BACKTRACE="enable=no", **environment)
        self.gateway, self.port, self.admin = gateway.process, gateway.port, gateway.socket
        self.health = self.start_piped("health", [sys.executable, HERE / "health.py", self.port, PATIENCE])

    def gateway_log(self):
        """The first lines of the gateway's log, and the last ones, where a crash is reported."""
        lines = (self.folder / "gateway.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[:3] + lines[3:][-10:])[:4000]

    def megabytes(self):
        """The memory of the gateway in MB. A crashed process has none, even before it is waited for."""
        kilobytes = resident_kb(self.gateway)
        if kilobytes is None:
            raise Broken(f"the gateway has ended:\n{self.gateway_log()}")
        return kilobytes >> 10

    def ask(self, tag, **variables):
        """One honest request over a new connection."""
        with Wire(self.port) as wire:
            wire.send(request_bytes(tag, **variables))
            status, body = wire.response()
            if status != 200 or json.loads(body)["data"]["tag"] != tag:
                raise Broken(f"asked for {tag}, the gateway answered {status}: {body[:300]}")

    def seen(self):
        """The requests that have reached the upstream."""
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=PATIENCE)
        connection.request("GET", "/seen")
        seen = json.loads(connection.getresponse().read())
        connection.close()
        return seen

    def longest_health(self):
        """The longest answer of /healthz in milliseconds since the last call, and the last failure."""
        self.health.stdin.write("\n")
        longest, _, failure = self.health.stdout.readline().rstrip("\n").partition(" ")
        return float(longest), failure

    def expect_alive(self):
        self.megabytes()
