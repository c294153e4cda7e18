"""Run a fleet with etcd, Redis and a balancer: a roll-out, a halt, a silent Redis and a killed node.

etcd, Redis, an upstream, three gateways that get their manifest from etcd, and nginx as their balancer run on this machine. Clients send
queries to the balancer all the time. Each event is printed with the seconds since the start:

  - The first manifest is published, and the nodes start.
  - A new plugin is rolled out, to one node after the other.
  - A plugin that crashes when it is started is rolled out. The roll-out halts after one node.
  - Redis is stopped for a while.
  - A node is killed, and started again under its name.

No query may fail. A run takes about a minute.
"""

import base64
import contextlib
import hashlib
import http.client
import itertools
import json
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import traffic
from gateway import Admin
from loop import Client
from machine import Failure, free_ports, listens
from rig import Rig, add_program, add_seconds

NODES = ("node-1", "node-2", "node-3")
PREFIX = "carabiner/shop"
CLIENTS = 4
# Each client pauses after a query: the machine runs the whole fleet.
PAUSE_SECONDS = 0.025
# A node that is killed is still listed until its lease ends, after at most 15 s.
LEASE_SECONDS = 15
# The longest time that any step takes on a busy machine.
PATIENCE = 60
MANIFEST = """carabiner: 1
endpoint: http://127.0.0.1:{upstream}/graphql
fleet: {{stages: [33%, 66%, 100%], hold: 2s, halt-after: 1}}
serve: {{cache-policy: cacheFirst}}
built-ins:
  store:
    default-maximum-age: 2s
    redis: {{urls: ["redis://127.0.0.1:{redis}"], prefix: shop, near: {{records: 1000, maximum-age: 500ms}}}}
plugins: [{{name: stamp, file: {plugin}}}]
chain: {{http: [stamp, response-code]}}
"""
BALANCER = """
worker_processes 1;
events {{ worker_connections 256; }}
http {{
  client_body_temp_path balancer.body; proxy_temp_path balancer.proxy; keepalive_requests 100000000;
  log_format nodes '$upstream_addr';
  # An address with a comma: the balancer has sent the query to a second node.
  map $upstream_addr $is_repeated {{ default 0; "~," 1; }}
  access_log repeated nodes if=$is_repeated;
  upstream nodes {{
{servers}
    keepalive 16;
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://nodes;
      proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_connect_timeout 1s; proxy_next_upstream error timeout;
    }}
  }}
}}
"""


class Timeline:
    """Prints lines with the time since the start."""

    def __init__(self):
        self.start, self.lock = time.monotonic(), threading.Lock()

    def say(self, text):
        with self.lock:
            print(f"{time.monotonic() - self.start:5.1f} s  {text}", flush=True)

    def show(self, text):
        """Prints the output of a command."""
        with self.lock:
            print("".join(f"         {line}".rstrip() + "\n" for line in text.splitlines()), end="", flush=True)


class Keys(threading.Thread):
    """Watches the keys of the fleet in etcd, and prints the steps of its nodes."""

    def __init__(self, port, timeline):
        super().__init__(daemon=True)
        self.timeline, self.values, self.changed, self.problem = timeline, {}, threading.Condition(), None
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.is_over = False
        first, last = f"{PREFIX}/", f"{PREFIX}0"
        request = {"create_request": {"key": encoded(first), "range_end": encoded(last), "start_revision": "1"}}
        self.connection.request("POST", "/v3/watch", json.dumps(request))
        self.response = self.connection.getresponse()

    def run(self):
        try:
            while line := self.response.readline():
                for event in json.loads(line)["result"].get("events", []):
                    self.take(event)
            raise ConnectionError("etcd has ended the watch")
        except Exception as error:
            if not self.is_over:
                with self.changed:
                    self.problem = f"the watch of etcd ended: {error!r}"
                    self.changed.notify_all()

    def close(self):
        self.is_over = True
        if self.connection.sock:
            self.connection.sock.shutdown(socket.SHUT_RDWR)

    def take(self, event):
        name = base64.b64decode(event["kv"]["key"]).decode().removeprefix(f"{PREFIX}/")
        before = self.values.get(name)
        value = None if event.get("type") == "DELETE" else base64.b64decode(event["kv"].get("value", ""))
        with self.changed:
            if value is None:
                self.values.pop(name, None)
            else:
                self.values[name] = value
            self.changed.notify_all()
        if text := self.text(name.split("/"), value, before):
            self.timeline.say(text)

    def text(self, path, value, before):
        """The line about a change; None if another one says the same."""
        kind, of = path[0], path[1] if len(path) > 1 else None
        if kind in ("stable", "candidate") and value is not None:
            return f"{digest(value)} is the {'stable manifest' if kind == 'stable' else 'candidate'}"
        if kind == "stage" and value is not None:
            return f"{of}: stage {json.loads(value)['stage']} begins"
        if kind == "halt":
            return None if value is None else f"{of} is halted by {json.loads(value).get('node', 'the operator')}"
        if kind == "taken" and value is not None:
            mark = json.loads(value)
            words = {"trying": "tries", "serving": "serves", "failed": "failed with"}
            # carabiner fleet status prints the whole reason.
            reason = f": {mark['reason'].split(';')[0].rpartition('/')[2]}" if mark.get("reason") else ""
            return f"{path[2]} {words[mark['state']]} {of}{reason}"
        if kind == "nodes" and value is None:
            return f"{of} is not in the fleet any more"
        if kind == "nodes" and before is None:
            return f"{of} is in the fleet"
        return None

    def wait(self, what, condition, seconds=PATIENCE):
        """Waits until a condition on the values holds."""
        with self.changed:
            held = self.changed.wait_for(lambda: self.problem or condition(self.values), seconds)
        if self.problem or not held:
            raise Failure(self.problem or f"this did not happen within {seconds} s: {what}")

    def node(self, name):
        value = self.values.get(f"nodes/{name}")
        return json.loads(value) if value else {}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def digest(manifest):
    """The name of a manifest in a fleet."""
    return hashlib.sha256(manifest).hexdigest()[:16]


class Querying(Client):
    """Sends queries one after the other. By GET, so that the balancer may send one again if a node ends while it answers."""

    QUERIES = [
        *(f'{{ book(id: "{number}") {{ __typename id title author {{ __typename id name }} }} }}' for number in range(1, 5)),
        "{ books { __typename id title } }",
    ]

    def __init__(self, port):
        super().__init__(port)
        self.queries, self.sent, self.longest = itertools.cycle(self.QUERIES), 0, 0

    def turn(self):
        start, target = time.monotonic(), "/graphql?" + urllib.parse.urlencode({"query": next(self.queries)})
        if response := self.ask(method="GET", target=target, **{"Apollo-Require-Preflight": "true"}):
            status, _, text = response
            result = json.loads(text)
            if status != 200 or not result.get("data") or None in result["data"].values() or "errors" in result:
                self.problems.append(f"a query has the response {status}: {text[:300]}")
        self.sent += 1
        self.longest = max(self.longest, time.monotonic() - start)
        self.over.wait(PAUSE_SECONDS)


def start_redis(machine, port, name="redis"):
    redis = machine.start(name, [
        "redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", machine.folder])
    machine.wait_until(redis, lambda: listens(port))
    return redis


class Fleet:
    """The servers of the demonstration."""

    def __init__(self, machine, executable, plugins, timeline, names=NODES, template=MANIFEST):
        self.machine, self.executable, self.plugins, self.timeline = machine, executable, plugins, timeline
        self.names, self.template = names, template
        etcd, peer, self.redis_port, self.port, *ports = free_ports(4 + len(names))
        self.ports = dict(zip(names, ports))
        self.address = f"etcd://127.0.0.1:{etcd}/{PREFIX}"
        self.nodes, self.starts = {}, 0
        folder = machine.folder
        # A power failure may lose what etcd has not written. This one needs no such care.
        self.etcd = machine.start("etcd", [
            "etcd", "--name", "etcd", "--data-dir", folder / "etcd", "--listen-client-urls", f"http://127.0.0.1:{etcd}",
            "--advertise-client-urls", f"http://127.0.0.1:{etcd}", "--listen-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"etcd=http://127.0.0.1:{peer}",
            "--logger", "zap", "--log-outputs", "stderr", "--unsafe-no-fsync"])
        self.redis = start_redis(machine, self.redis_port)
        self.upstream = machine.start("upstream", [executable, "demo-server", "--quiet"])
        self.upstream_port = machine.listening(self.upstream)
        machine.wait_for(self.etcd, etcd, "/v3/kv/range")
        self.keys = Keys(etcd, timeline)
        self.keys.start()

    def manifest(self, plugin):
        """Writes the manifest with one of the plugins. Returns its name in the fleet."""
        text = self.template.format(upstream=self.upstream_port, redis=self.redis_port, plugin=plugin)
        (self.machine.folder / "shop.yaml").write_text(text)
        return digest(text.encode())

    def run(self, *words):
        """Runs a subcommand of carabiner fleet, and prints what it prints."""
        self.timeline.say(f"$ carabiner fleet {' '.join(words)}")
        done = subprocess.run(
            [self.executable, "fleet", *words, "--to", self.address, "--source-timeout", "30s"], cwd=self.machine.folder,
            capture_output=True, text=True)
        # The warning that the manifest is not signed.
        self.timeline.show(done.stdout if done.returncode == 0 else done.stdout + done.stderr)
        if done.returncode != 0:
            raise Failure(f"carabiner fleet {words[0]} ended with status {done.returncode}")

    def start_node(self, name):
        self.starts += 1
        process = self.machine.start(f"{name}.{self.starts}", [
            self.executable, "serve", "-m", self.address, "--state", self.machine.folder / name, "--allow-unsigned",
            "--node-id", name, "--listen", f"127.0.0.1:{self.ports[name]}", "--admin", f"unix:{self.socket(name)}", "--drain", "5s"])
        self.nodes[name] = process
        self.machine.gateways.append(process)

    def wait_for_nodes(self, *names):
        for name in names:
            self.machine.wait_until(self.nodes[name], lambda: listens(self.ports[name]))

    def socket(self, name):
        return self.machine.folder / f"{name}.sock"

    def start_balancer(self):
        servers = "\n".join(f"    server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;" for port in self.ports.values())
        balancer = traffic.nginx(self.machine, "balancer", BALANCER.format(servers=servers, port=self.port))
        self.machine.wait_until(balancer, lambda: listens(self.port))

    def check_servers(self):
        """Ends the run if a server has ended that no step ends."""
        for process in (self.etcd, self.redis, self.upstream):
            if process.poll() is not None:
                raise Failure(f"{process.name} has ended with status {process.returncode}:\n{self.machine.log(process)}")

    def admin(self, name):
        return Admin(self.socket(name))

    def wait_until(self, what, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.check_servers()
            if time.monotonic() > end:
                raise Failure(f"this did not happen within {PATIENCE} s: {what}")
            time.sleep(0.05)


def roll_out(fleet):
    """A good plugin reaches all nodes, one after the other."""
    fleet.timeline.say("== a new plugin")
    candidate = fleet.manifest(fleet.plugins[1])
    fleet.run("push", "-m", "shop.yaml")
    fleet.keys.wait(
        "the candidate is the stable manifest", lambda keys: "candidate" not in keys and digest(keys["stable"]) == candidate)
    fleet.keys.wait("all nodes serve it", lambda _: all(fleet.keys.node(name).get("serving") == candidate for name in NODES))


def halt(fleet):
    """A plugin that cannot be started is halted at the first node."""
    fleet.timeline.say("== a plugin that crashes when it is started")
    stable = digest(fleet.keys.values["stable"])
    candidate = fleet.manifest(fleet.plugins[2])
    fleet.run("push", "-m", "shop.yaml")
    fleet.keys.wait("the candidate is halted", lambda keys: f"halt/{candidate}" in keys)
    fleet.run("status")
    tried = [key.split("/")[2] for key in fleet.keys.values if key.startswith(f"taken/{candidate}/")]
    if len(tried) != 1:
        raise Failure(f"the candidate reached {len(tried)} nodes, and should reach 1: {', '.join(tried)}")
    fleet.run("abort")
    fleet.keys.wait("the candidate is gone", lambda keys: "candidate" not in keys)
    fleet.keys.wait("all nodes serve the stable manifest", lambda _: all(
        fleet.keys.node(name).get("serving") == stable and fleet.keys.node(name).get("state") == "serving" for name in NODES))


def silence_redis(fleet, seconds):
    """Redis does not answer for a while."""
    def is_used(name):
        return (fleet.admin(name).metric('carabiner_redis_circuit_open{use="store"}') == 0
                and fleet.admin(name).metric('carabiner_redis_up{use="store"}') == 1)

    fleet.timeline.say("== Redis stops (SIGSTOP)")
    fleet.redis.send_signal(signal.SIGSTOP)
    end = time.monotonic() + seconds
    waiting = list(NODES)
    while time.monotonic() < end:
        for name in [name for name in waiting if not is_used(name)]:
            fleet.timeline.say(f"{name} does not use Redis any more")
            waiting.remove(name)
        time.sleep(0.1)
    fleet.timeline.say("Redis continues")
    fleet.redis.send_signal(signal.SIGCONT)
    for name in NODES:
        fleet.wait_until(f"{name} uses Redis", lambda: is_used(name))
        fleet.timeline.say(f"{name} uses Redis")


def kill_node(fleet, name, seconds):
    """A node is killed, and started again under its name."""
    def is_registered():
        return fleet.admin(name).status()["source"]["fleet"]["registered"]

    fleet.timeline.say(f"== {name} is killed (SIGKILL)")
    fleet.nodes[name].kill()
    fleet.nodes[name].wait()
    fleet.machine.gateways.remove(fleet.nodes[name])
    time.sleep(seconds)
    fleet.timeline.say(f"{name} is started again")
    fleet.start_node(name)
    fleet.wait_for_nodes(name)
    if not is_registered():
        fleet.timeline.say(f"{name} serves; the lease of the killed process ends within {LEASE_SECONDS} s")
    fleet.wait_until(f"{name} is in the fleet", is_registered)
    fleet.keys.wait(f"{name} is in the fleet", lambda keys: f"nodes/{name}" in keys)


def add_options(parser):
    add_seconds(parser, 3, "the length of pauses", most=999)
    add_program(parser)


def run(rig: Rig):
    seconds = rig.options.seconds
    executable = rig.program("carabiner")
    plugins = [rig.stamp("stamp-1"), rig.stamp("stamp-2", 'STAMP="two"'), rig.stamp("stamp-3", "CREATE_CRASHES")]
    fleet = Fleet(rig, executable, plugins, Timeline())
    say = fleet.timeline.say
    with contextlib.closing(fleet.keys):
        say("== the first manifest")
        fleet.manifest(plugins[0])
        fleet.run("push", "-m", "shop.yaml")
        say(f"{len(NODES)} nodes and a balancer start")
        for name in NODES:
            fleet.start_node(name)
        fleet.wait_for_nodes(*NODES)
        fleet.keys.wait("all nodes are in the fleet", lambda keys: all(f"nodes/{name}" in keys for name in NODES))
        fleet.start_balancer()
        say(f"{CLIENTS} clients send queries to the balancer")
        clients = [Querying(fleet.port) for _ in range(CLIENTS)]
        with contextlib.ExitStack() as stack:
            for client in clients:
                stack.enter_context(client)
            time.sleep(seconds)
            roll_out(fleet)
            time.sleep(seconds / 3)
            halt(fleet)
            time.sleep(seconds / 3)
            silence_redis(fleet, seconds)
            time.sleep(seconds / 3)
            kill_node(fleet, NODES[1], seconds)
            time.sleep(seconds)
        say("== the end")
        for name in NODES:
            serving, generation = fleet.keys.node(name).get("serving"), fleet.admin(name).status()["generation"]
            say(f"{name} serves {serving}, as its generation {generation}")
    repeated = rig.folder / "repeated"
    problems = [problem for client in clients for problem in client.problems]
    figures = {
        "queries": sum(client.sent for client in clients), "failed": len(problems),
        "repeated": len(repeated.read_text().splitlines()) if repeated.exists() else 0,
        "longest_ms": round(max(client.longest for client in clients) * 1000)}
    print()
    for label, name in (
        ("queries", "queries"), ("queries that failed", "failed"),
        ("queries that the balancer sent to another node too", "repeated"), ("the longest query, ms", "longest_ms"),
    ):
        print(f"{label:<52}{figures[name]:>8}")
    return figures, problems
