"""The parts of the measurement. A part has an upstream, the protocols of its clients, and what they send."""

import asyncio
import functools
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import ssl
import statistics
import subprocess

import proxies
import traffic
from machine import Failure, free_ports, listens, pinned, resident_kb

# The numbers of open connections for which latencies are measured.
LATENCIES = [1, 32, 256]
# The connections of h2load, and the concurrent requests of each: together as many as the connections of HTTP/1.1.
HTTP2_CONNECTIONS, HTTP2_STREAMS = 4, traffic.CONNECTIONS // 4


class Session:
    """A running program with its clients.

    `run` sends requests for a time and returns their number, the seconds and the latencies in ms. `send` sends a number of them.
    """

    # The memory of the program for each client in kB, where that is measured.
    memory = None

    def __init__(self, process):
        self.process = process

    def send(self, count):
        raise NotImplementedError

    def run(self, seconds, connections=traffic.CONNECTIONS):
        raise NotImplementedError

    def close(self):
        pass


class Part:
    """A part without TLS, over HTTP/1.1."""

    name = "post"
    title = f"a POST of 150 bytes, a response of 1 KB, {traffic.CONNECTIONS} connections"
    unit = "request"
    text = traffic.body()
    # The connections of the requests whose instructions are counted.
    connections = traffic.CONNECTIONS
    # The numbers of connections for which latencies are measured too.
    latencies = LATENCIES
    # The requests for which instructions are counted; 0 if they are not counted.
    counted = 30 * traffic.CONNECTIONS

    def __init__(self, folder):
        """Prepares what all programs share in an empty folder."""
        self.folder = folder
        self.wiring = proxies.Wiring()

    def missing(self):
        """The reason why this machine cannot run the part, or None."""
        return None

    def programs(self, executable, envoy, tools):
        """The programs that are compared."""
        return proxies.programs(executable, envoy, tools)

    def upstream(self, machine, core=None):
        """Starts an upstream for all programs, and returns its port."""
        return traffic.start_upstream(machine, core, self.text, self.wiring.tls)

    def start(self, machine, program, upstream, core=None):
        """Starts a program, and returns the process and its port."""
        port, = free_ports(1)
        process = program.start(machine, self.wiring, port, upstream, core)
        machine.wait_until(process, lambda: self.ask(port) is not None)
        return process, port

    def open(self, machine, program, upstream, core=None, other=None):
        """Starts a program on one core, and its clients on the other, and checks that it does the measured work."""
        process, port = self.start(machine, program, upstream, core)
        # An upstream that answers before it has read the body makes Envoy reset the stream, and this curl then has no response.
        answers = (self.ask(port) for _ in range(20))
        self.check(program, next((answer for answer in answers if answer), None))
        return self.session(process, port, other)

    def session(self, process, port, core):
        return WebSession(process, port, core, self.wiring, self.connections)

    def url(self, port):
        return f"{self.wiring.scheme}://127.0.0.1:{port}/graphql"

    def ask(self, port, query=traffic.QUERY, headers=()):
        """The head and the body of the response to one request, or None."""
        command = ["curl", "-s", "-i", "--max-time", "10", "-H", "Content-Type: application/json", "--data-binary", query]
        command += [word for header in headers for word in ("-H", header)]
        if self.wiring.tls:
            command += ["--cacert", str(self.wiring.tls / "certificate.pem")]
        if self.wiring.http2:
            command += ["--http2-prior-knowledge"]
        done = subprocess.run(command + [self.url(port)], capture_output=True, text=True)
        head, _, text = done.stdout.replace("\r\n", "\n").partition("\n\n")
        lines = [line.partition(":") for line in head.split("\n")[1:]]
        return None if done.returncode != 0 else ({name.lower(): value.strip() for name, _, value in lines}, text)

    def check(self, program, answer, expected=None):
        head, text = answer or ({}, "no response")
        up = [stage for stage in proxies.STAGES if head.get(f"x-{stage}-up") == "one"]
        seen = "".join("one" for stage in (proxies.STAGES[0], proxies.STAGES[-1]) if stage in program.stages)
        if text != (expected or self.text) or up != program.stages or head.get("x-seen", "") != seen:
            raise Failure(f"{program.name} does not answer as it should:\n{head}\n{text[:2000]}")


class WebSession(Session):
    """Clients that send requests over HTTP/1.1."""

    def __init__(self, process, port, core, wiring, connections):
        super().__init__(process)
        self.connections = connections
        self.url, self.core = f"{wiring.scheme}://127.0.0.1:{port}/graphql", core
        self.loop = asyncio.new_event_loop()
        self.streams = []
        self.port, self.trust = port, None
        if wiring.tls:
            self.trust = ssl.create_default_context(cafile=wiring.tls / "certificate.pem")
        self.requests = [self.request(traffic.QUERY)]

    def request(self, query, headers=()):
        lines = [f"Host: 127.0.0.1:{self.port}", "Content-Type: application/json", f"Content-Length: {len(query)}", *headers]
        return "\r\n".join(["POST /graphql HTTP/1.1", *lines, "", query]).encode()

    def load(self, seconds, connections):
        return traffic.wrk(self.url, seconds, self.core, connections=connections)

    def run(self, seconds, connections=traffic.CONNECTIONS):
        result = self.load(seconds, connections)
        errors = {kind: result[kind] for kind in ("status", "connect", "read", "write", "timeout") if result[kind]}
        if errors:
            raise Failure(f"some requests failed: {errors}")
        return result

    def send(self, count):
        """Sends over connections that stay open. On each, a request follows the response to the one before."""
        async def open_all():
            opening = [asyncio.open_connection("127.0.0.1", self.port, ssl=self.trust) for _ in range(self.connections)]
            self.streams = await asyncio.gather(*opening)

        async def send_all():
            await asyncio.gather(*[self.exchange(reader, writer, count // self.connections) for reader, writer in self.streams])

        if not self.streams:
            self.loop.run_until_complete(open_all())
        self.loop.run_until_complete(send_all())

    async def exchange(self, reader, writer, count):
        for request in itertools.islice(itertools.cycle(self.requests), count):
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            if b" 200 " not in head.partition(b"\r\n")[0] or length is None and b"chunked" not in head:
                raise Failure(f"a response has another head:\n{head.decode(errors='replace')}")
            if length:
                await reader.readexactly(int(length[1]))
                continue
            while (size := int(await reader.readuntil(b"\r\n"), 16)) > 0:
                await reader.readexactly(size + 2)
            await reader.readuntil(b"\r\n")

    def close(self):
        for _, writer in self.streams:
            writer.transport.abort()
        # The loop calls what the end of the connections has left.
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()


class Large(Part):
    name = "large"
    title = f"a POST of 150 bytes, a response of 100 KB, {traffic.CONNECTIONS} connections"
    text = traffic.body(100 * 1024, 985)
    latencies = []
    counted = 4 * traffic.CONNECTIONS


class Huge(Large):
    name = "huge"
    title = f"a POST of 150 bytes, a response of 8 MiB, {traffic.CONNECTIONS} connections"
    connections = 2
    counted = 2

    @functools.cached_property
    def text(self):
        return traffic.body(8 << 20, 76_000)

    def session(self, process, port, core):
        session = super().session(process, port, core)
        before = resident_kb(process)
        session.run(1)
        session.memory = (resident_kb(process) - before) / traffic.CONNECTIONS
        return session


class Mixed(Part):
    """Of ten requests, one has a large response, and one is a subscription with three events."""

    name = "mixed"
    title = f"as post; of ten requests one has a response of 100 KB and one has three events, {traffic.CONNECTIONS} connections"
    latencies = []
    counted = 20 * traffic.CONNECTIONS
    query = json.dumps({"query": "subscription Items { items { id name price inStock tags } }"}, separators=(",", ":"))
    accept = 'Accept: multipart/mixed;boundary="graphql";subscriptionSpec="1.0", application/json'
    event = "\r\n--graphql\r\ncontent-type: application/json\r\n\r\n" + json.dumps({"payload": json.loads(traffic.body())})
    answers = {
        "large": ("application/json", Large.text),
        "events": ('multipart/mixed;boundary="graphql";subscriptionSpec="1.0"', 3 * event + "\r\n--graphql--\r\n"),
    }

    def __init__(self, folder):
        super().__init__(folder)
        self.wiring = proxies.Wiring(forwarded=("x-answer",))

    def upstream(self, machine, core=None):
        return traffic.start_upstream(machine, core, self.text, others=self.answers)

    def start(self, machine, program, upstream, core=None):
        process, port = super().start(machine, program, upstream, core)
        self.check(program, self.ask(port, headers=["X-Answer: large"]), Large.text)
        head, text = self.ask(port, self.query, ["X-Answer: events", self.accept])
        if not head["content-type"].startswith("multipart/mixed") or text.count('"Item number 8"') != 3:
            raise Failure(f"{program.name} does not pass three events on:\n{head}\n{text}")
        return process, port

    def session(self, process, port, core):
        return MixedSession(self, process, port, core)


class MixedSession(WebSession):
    def __init__(self, part, process, port, core):
        super().__init__(process, port, core, part.wiring, part.connections)
        large = self.request(traffic.QUERY, ["X-Answer: large"])
        events = self.request(part.query, ["X-Answer: events", part.accept])
        self.requests = 4 * self.requests + [large] + 4 * self.requests + [events]
        self.file = part.folder / f"requests-{port}"
        self.file.write_bytes(b"".join(request + b"\0" for request in self.requests))

    def load(self, seconds, connections):
        return traffic.wrk(self.url, seconds, self.core, connections=connections, requests=self.file)


class Worker(Part):
    """The gateway with its stages in process and in a worker."""

    name = "worker"
    title = f"as post, with the stages in process and in a worker, {traffic.CONNECTIONS} connections"
    latencies = [1, traffic.CONNECTIONS]
    # A tool would count only the instructions of the gateway, without those of its workers.
    counted = 0
    plugin = "headers.so"
    # The hooks of a stage in a request: of the request, and of the response's head.
    hooks = 2

    def programs(self, executable, envoy, tools):
        return proxies.isolated_programs(executable, tools, self.plugin)


class LargeWorker(Worker):
    name = "worker-large"
    title = f"as worker, with stages that read a response of 100 KB, {traffic.CONNECTIONS} connections"
    text = Large.text
    plugin = "reading.so"
    # The body arrives in several pieces.
    hooks = None


class TLS(Part):
    name = "tls"
    title = f"as post, with TLS 1.3 on both sides, {traffic.CONNECTIONS} connections"
    latencies = []
    counted = 20 * traffic.CONNECTIONS

    def __init__(self, folder):
        super().__init__(folder)
        self.wiring = proxies.Wiring(tls=traffic.certificate(folder / "certificate"))


class HTTP2(Part):
    name = "http2"
    title = (f"as post, with HTTP/2 (h2c) from clients, {HTTP2_CONNECTIONS} connections with {HTTP2_STREAMS} concurrent requests "
             "each")
    latencies = []

    def __init__(self, folder):
        super().__init__(folder)
        self.wiring = proxies.Wiring(http2=True)

    def missing(self):
        return None if shutil.which("h2load") else "h2load is not installed: apt-get install nghttp2-client"

    def session(self, process, port, core):
        return HTTP2Session(process, self.url(port), core, self.folder)


class HTTP2Session(Session):
    """Requests by h2load."""

    def __init__(self, process, url, core, folder):
        super().__init__(process)
        self.core, self.times, body = core, folder / "h2load.times", folder / "query.json"
        body.write_text(traffic.QUERY)
        self.command = [
            "h2load", "-t1", f"-c{HTTP2_CONNECTIONS}", f"-m{HTTP2_STREAMS}", "-d", body, "-H", "content-type: application/json",
            url]

    def load(self, *options):
        self.times.unlink(missing_ok=True)
        done = subprocess.run(
            pinned(self.core) + [str(part) for part in self.command + list(options)], capture_output=True, text=True)
        counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", done.stdout)
        if done.returncode != 0 or not counts or int(counts[1]) == 0 or any(int(count) for count in counts.groups()[1:]):
            raise Failure(f"some requests failed:\n{done.stdout}{done.stderr}")
        return done.stdout, int(counts[1])

    def run(self, seconds, connections=traffic.CONNECTIONS):
        text, count = self.load("-D", seconds, "--log-file", self.times)
        milliseconds = sorted(int(line.split("\t")[2]) / 1000 for line in self.times.read_text().splitlines())
        hundredths = statistics.quantiles(milliseconds, n=100)
        return {"requests": count, "seconds": float(re.search(r"finished in ([\d.]+)s", text)[1]), "p50": hundredths[49],
                "p99": hundredths[98]}

    def send(self, count):
        self.load("-n", count)


class Subscription(Part):
    name = "subscription"
    unit = "event"
    latencies = []

    def __init__(self, folder, helper, clients):
        """helper is the program of subscribers.c."""
        super().__init__(folder)
        self.helper, self.clients, self.counted = helper, clients, 2 * clients
        self.title = f"an event of 150 bytes to each of {clients:,} subscriptions, as multipart bodies, in rounds"
        self.wiring = proxies.Wiring(streams=clients)

    def missing(self):
        needed = 3 * self.clients + 256
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if most != resource.RLIM_INFINITY and most < needed:
            return (f"{self.clients} subscriptions need {needed} open files in a process, and the limit is {most}: "
                    "raise it with ulimit -n, or lower --clients")
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        return None

    def upstream(self, machine, core=None):
        """Each program has its own upstream, in the process of its clients."""
        return None

    def open(self, machine, program, upstream, core=None, other=None):
        upstream, port = free_ports(2)
        helper = machine.start_piped(f"subscribers-{port}", [self.helper, upstream, port, self.clients], other)
        machine.wait_until(helper, lambda: listens(upstream))
        process = program.start(machine, self.wiring, port, upstream, core)
        machine.wait_until(process, lambda: self.ask(port) is not None)
        session = SubscriptionSession(machine, process, helper)
        before = resident_kb(process)
        opened = session.command("open")
        if opened["stages"] != (self.clients if program.stages else 0):
            raise Failure(f"{program.name} does not do the measured work: of {opened['open']} subscriptions, "
                          f"{opened['stages']} passed the stages")
        session.clients = self.clients
        session.command("rounds 1")
        session.memory = (resident_kb(process) - before) / self.clients
        return session


class SubscriptionSession(Session):
    """Subscriptions in the process of subscribers.c, which is also their upstream."""

    clients = 0

    def __init__(self, machine, process, helper):
        super().__init__(process)
        self.machine, self.helper = machine, helper

    def command(self, text):
        try:
            self.helper.stdin.write(text + "\n")
            line = self.helper.stdout.readline()
        except OSError:
            line = ""
        if not line:
            raise Failure(f"the subscriptions ended: {self.machine.log(self.helper)}{self.machine.log(self.process)}")
        return json.loads(line)

    def run(self, seconds, connections=traffic.CONNECTIONS):
        return self.command(f"seconds {seconds}")

    def send(self, count):
        self.command(f"rounds {count // self.clients}")


PARTS = {part.name: part for part in (Part, Large, Huge, Mixed, Subscription, TLS, HTTP2, Worker, LargeWorker)}


def make(name, folder, helper, clients):
    """A part by its name. helper and clients are those of subscriptions."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    os.chmod(folder, 0o700)
    return Subscription(folder, helper, clients) if name == Subscription.name else PARTS[name](folder)
