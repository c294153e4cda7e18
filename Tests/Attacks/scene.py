"""The scene of an attack: an upstream, a gateway under attack, and honest clients beside the hostile ones."""

import http.client
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Benchmarks" / "Gateway"))

import rig  # noqa: E402

# The time limit of a response during an attack, in seconds. An idle gateway takes milliseconds; a debug build on a busy machine
# takes a thousand times as long.
PATIENCE = 60
# The growth that is allowed for the gateway in one attack, in MB, in addition to the attack's own limit.
MEGABYTES = 96
QUERY = "query Honest($tag: String) { tag }"


class Broken(Exception):
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


class HonestClient(threading.Thread):
    """Sends requests one after another over a persistent connection, and checks that each response is its own."""

    def __init__(self, port, name):
        super().__init__(daemon=True)
        self.port, self.tag_prefix = port, name
        self.over = threading.Event()
        self.asked, self.longest = 0, 0.0
        self.problems = []

    def run(self):
        connection = None
        while not self.over.is_set() and len(self.problems) < 5:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            tag = f"{self.tag_prefix}-{self.asked}"
            begin = time.monotonic()
            try:
                text = json.dumps({"query": QUERY, "variables": {"tag": tag}})
                connection.request("POST", "/graphql", text, {"Content-Type": "application/json"})
                response = connection.getresponse()
                body = response.read()
                answer = json.loads(body)
                if response.status != 200 or (answer.get("data") or {}).get("tag") != tag:
                    self.problems.append(f"an honest client asked for {tag} and got {response.status}: {body[:300]}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                if not self.over.is_set():
                    self.problems.append(f"an honest client that asked for {tag} got no answer: {error!r}")
                connection = None
            self.asked += 1
            self.longest = max(self.longest, time.monotonic() - begin)
            self.over.wait(0.01)

    def stop(self):
        self.over.set()
        self.join(PATIENCE + 5)


class Scene:
    """A gateway and its upstream, for the attacks of one family."""

    def __init__(self, machine, carabiner, folder, manifest="", options=(), warm_up=True, **environment):
        self.machine, self.folder = machine, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.upstream = machine.start_piped([sys.executable, HERE / "upstream.py"], self.folder / "upstream.log")
        self.upstream_port, self.other_port = (int(port) for port in self.upstream.stdout.readline().split())
        chain = self.folder / "chain.yaml"
        manifest = manifest or "carabiner: 1\nserve: {forward-headers: [x-user]}\n"
        chain.write_text(manifest.replace("UPSTREAM", f"127.0.0.1:{self.upstream_port}"))
        self.admin = self.folder / "admin.sock"
        self.gateway = machine.start_piped(
            [carabiner, "serve", "-m", chain, "--listen", "127.0.0.1:0", "--admin", f"unix:{self.admin}", "--endpoint",
             f"http://127.0.0.1:{self.upstream_port}/graphql", *options], self.folder / "gateway.log", **environment)
        line = self.gateway.stdout.readline().decode()
        if not line.startswith("listening"):
            raise Broken(f"the gateway did not start: {line}{self.log()}")
        self.port = int(line.strip().rpartition(":")[2].rstrip("/"))
        self.health = machine.start_piped(
            [sys.executable, HERE / "health.py", self.port], self.folder / "health.log", stdin=subprocess.PIPE)
        for n in range(200 if warm_up else 0):
            self.ask(f"warm-{n}")
        self.baseline = self.megabytes()
        self.longest_health()

    def log(self):
        """The first lines of the gateway's log, and the last ones, where a crash is reported."""
        lines = (self.folder / "gateway.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[:3] + lines[3:][-10:])[:4000]

    def megabytes(self):
        """The memory of the gateway in MB. A crashed process has none, even before it is waited for."""
        try:
            return rig.resident_kb(self.gateway) >> 10
        except (OSError, TypeError):
            raise Broken(f"the gateway has ended:\n{self.log()}") from None

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
        self.health.stdin.write(b"\n")
        self.health.stdin.flush()
        longest, _, failure = self.health.stdout.readline().decode().rstrip("\n").partition(" ")
        return float(longest), failure

    def expect_alive(self):
        self.megabytes()


class Machine(rig.Rig):
    """Processes that end with the run. Their first line of output can be read."""

    def start_piped(self, command, log, stdin=subprocess.DEVNULL, **environment):
        process = subprocess.Popen(
            [str(part) for part in command], stdin=stdin, stdout=subprocess.PIPE, stderr=open(log, "wb"),
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **environment})
        process.name = pathlib.Path(log).stem
        self.processes.append(process)
        return process

    def end(self, *processes):
        """Ends processes early."""
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
