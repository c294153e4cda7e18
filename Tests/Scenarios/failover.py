"""Disturb upstreams, listeners, certificates and the process of a gateway at full load.

wrk sends queries, and two clients send mutations, to carabiner serve at full load. Its upstreams are three nginx. One after the other is
killed, stopped, slowed and restarted. At the same time the certificate is changed, a listener is added and removed, and another process
takes over, in two rounds.

No query may fail. A mutation may fail if its upstream was disturbed, but no upstream may receive it twice.
"""

import argparse
import collections
import contextlib
import hashlib
import http.client
import json
import os
import signal
import ssl
import time
import urllib.request

import traffic
from gateway import Admin
from loop import Client, Loop
from machine import Failure, Machine, free_ports, listens
from rig import Rig, add_program, add_seconds, at_least, say

UPSTREAMS, MUTATION_CLIENTS = 3, 2
# A stopped or slowed upstream stays so for this long. It is more than a query waits for it.
DISTURBED_SECONDS = 1.5
# The pause until the next upstream is disturbed: until the gateway uses the last one again.
PAUSE_SECONDS = 1
# A changed certificate must be in use after this time: the gateway looks at the files every ten seconds.
CERTIFICATE_SECONDS = 21
MUTATION = json.dumps({"query": "mutation Add($id: ID!) { add(id: $id) }", "variables": {"id": "1"}})
MANIFEST = """carabiner: 1
upstreams:
  main:
    endpoints: [{endpoints}]
    retry: {{attempts: 6, causes: [connect, reset, 502, 503, 504, timeout], per-attempt-timeout: 1s, budget: 100%, minimum-concurrent: 64}}
    health: {{path: /health, interval: 200ms, timeout: 500ms, fall: 2, rise: 1}}
    outliers: {{failures: 3, ejection: 1s, maximum-ejected: 67%}}
settings: {{timeout: 20s}}
chain: {{http: [response-code]}}
serve:
  forward-headers: [x-mutation]
  listeners:
    - {{address: "127.0.0.1:{plain}"}}
    - {{address: "127.0.0.1:{secure}", tls: {{certificates: [{{certificate: tls/certificate.pem, key: tls/key.pem}}]}}}}
{more}"""


class Upstream(Machine):
    """An nginx that answers all requests alike, and writes the number of each mutation to a file."""

    def __init__(self, folder, port):
        super().__init__(folder)
        self.port, self.counted = port, self.folder / "mutations"
        self.begin()

    def begin(self):
        self.process = traffic.nginx(self, "nginx", f"""
master_process off;
events {{ worker_connections 1024; }}
http {{
  log_format mutation '$http_x_mutation'; client_body_temp_path body; keepalive_requests 100000000; client_body_in_single_buffer on;
  server {{
    listen 127.0.0.1:{self.port} backlog=1024 reuseport;
    default_type application/json; access_log mutations mutation if=$http_x_mutation;
    location /health {{ access_log off; return 200 "ok"; }}
    location / {{ return 200 '{traffic.body()}'; }}
  }}
}}
""")
        self.wait_until(self.process, lambda: listens(self.port))

    def mutations(self):
        return self.counted.read_text().split() if self.counted.exists() else []

    def send(self, number):
        self.process.send_signal(number)

    def end_by(self, number):
        self.send(number)
        self.process.wait(30)

    # The ways to disturb it

    def kill(self):
        self.end_by(signal.SIGKILL)
        time.sleep(DISTURBED_SECONDS / 3)
        self.begin()

    def stop(self):
        self.send(signal.SIGSTOP)
        time.sleep(DISTURBED_SECONDS)
        self.send(signal.SIGCONT)

    def slow(self):
        """Lets it run for a tenth of the time."""
        end = time.monotonic() + DISTURBED_SECONDS
        while time.monotonic() < end:
            self.send(signal.SIGSTOP)
            time.sleep(0.045)
            self.send(signal.SIGCONT)
            time.sleep(0.005)

    def restart(self):
        self.end_by(signal.SIGQUIT)
        self.begin()


class Attacks(Loop):
    """Disturbs one upstream after the other, each in all ways."""

    WAYS = ("kill", "stop", "slow", "restart")

    def __init__(self, upstreams):
        super().__init__()
        self.upstreams, self.counts, self.number = upstreams, collections.Counter(), 0

    def turn(self):
        way = self.WAYS[self.number % len(self.WAYS)]
        upstream = self.upstreams[self.number // len(self.WAYS) % len(self.upstreams)]
        getattr(upstream, way)()
        self.counts[way] += 1
        self.number += 1
        self.over.wait(PAUSE_SECONDS)


class Mutations(Client):
    """Sends mutations one after the other, each once."""

    def __init__(self, identity, port):
        super().__init__(port)
        self.identity, self.count, self.succeeded, self.failed = identity, 0, [], collections.Counter()

    def turn(self):
        self.count += 1
        identity = f"{self.identity}-{self.count}"
        if response := self.ask(MUTATION, **{"X-Mutation": identity}):
            status, _, text = response
            if status == 200 and text == traffic.body():
                self.succeeded.append(identity)
            else:
                self.failed[f"{status} {code(text)}"] += 1


def code(text):
    try:
        return json.loads(text)["errors"][0]["extensions"]["code"]
    except (ValueError, LookupError, TypeError):
        return text[:200]


class Handshakes(Loop):
    """Sends each query over a new connection with TLS, and keeps the certificates that it saw."""

    def __init__(self, port):
        super().__init__()
        self.port, self.count, self.seen = port, 0, {}
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def turn(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.context)
        try:
            connection.connect()
            digest = hashlib.sha256(connection.sock.getpeercert(binary_form=True)).hexdigest()
            connection.request("POST", "/graphql", traffic.QUERY, {"Content-Type": "application/json", "Connection": "close"})
            response = connection.getresponse()
            text = response.read().decode()
            if response.status != 200 or text != traffic.body():
                self.problems.append(f"a query over TLS has the response {response.status} {text[:200]}")
        except (OSError, http.client.HTTPException) as error:
            self.problems.append(f"a query over TLS has no response: {error!r}")
        else:
            self.seen.setdefault(digest, time.monotonic())
        finally:
            connection.close()
        self.count += 1
        # It checks: wrk makes the load.
        self.over.wait(0.02)


class Gateway:
    """carabiner serve, over all processes that take over from each other."""

    def __init__(self, machine, executable, manifest, threads):
        self.machine, self.executable, self.manifest, self.threads, self.started = machine, executable, manifest, threads, 0
        self.socket = machine.folder / "admin.sock"
        self.process = self.begin()

    def begin(self, *options):
        self.started += 1
        process = self.machine.start(
            f"gateway{self.started}",
            [self.executable, "serve", "-m", self.manifest, "--admin", f"unix:{self.socket}", "--drain", "20s", "--threads",
             str(self.threads), *options],
            CARABINER_LOG="critical")
        self.machine.gateways.append(process)
        return process

    def status(self):
        return Admin(self.socket).status()

    def is_current(self, process):
        try:
            return self.status()["process"] == process.pid
        except (OSError, http.client.HTTPException, ValueError):
            return False

    def take_over(self):
        """Starts a process that takes over, and waits until the earlier one has ended. Returns the status of that."""
        old, self.process = self.process, self.begin("--take-over", f"unix:{self.socket}")
        self.machine.wait_until(self.process, lambda: self.is_current(self.process))
        return old.wait(60)

    def reload(self):
        return Admin(self.socket).ask("POST", "/reload")


class Operator(Loop):
    """Changes the certificate, adds and removes a listener, and has processes take over, in two rounds."""

    def __init__(self, gateway, write_manifest, port, seconds, take_overs):
        super().__init__()
        self.take_overs = take_overs
        self.gateway, self.write_manifest, self.port = gateway, write_manifest, port
        self.seconds, self.certificates, self.taken_over, self.listeners = seconds, [], 0, 0

    def turn(self):
        """One round, which takes up to half of the time."""
        begin = time.monotonic()
        self.change_certificate()
        self.add_listener()
        for _ in range(self.take_overs // 2):
            self.take_over()
        self.remove_listener()
        if self.taken_over >= self.take_overs:
            self.over.set()
        self.over.wait(max(0, begin + self.seconds / 2 - time.monotonic()))

    def change_certificate(self):
        say("a new certificate")
        folder, number = self.gateway.machine.folder, len(self.certificates)
        made = traffic.certificate(folder / f"tls{number}")
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert((made / "certificate.pem").read_text())).hexdigest()
        for name in ("key.pem", "certificate.pem"):
            os.rename(made / name, folder / "tls" / name)
        self.certificates.append((digest, time.monotonic()))

    def add_listener(self):
        say("a listener more")
        self.write_manifest(f'    - {{address: "127.0.0.1:{self.port}"}}\n')
        self.expect(200, self.gateway.reload())
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=10) as response:
            response.read()
        self.listeners += 1

    def remove_listener(self):
        say("a listener less")
        self.write_manifest("")
        self.expect(200, self.gateway.reload())
        for _ in range(200):
            if not listens(self.port):
                return
            time.sleep(0.05)
        self.problems.append("the removed listener still accepts connections after 10 s")

    def take_over(self):
        say("another process takes over")
        status = self.gateway.take_over()
        if status:
            self.problems.append(f"the process before ended with the status {status}")
        self.taken_over += 1

    def expect(self, status, answer):
        if answer[0] != status:
            self.problems.append(f"a reload was answered with {answer[0]}: {answer[1]}")


def problems_of(report, operator, handshakes, mutations):
    problems = [problem for loop in (operator, handshakes, *mutations) for problem in loop.problems]
    queries = report["queries"]
    failed = {kind: queries[kind] for kind in ("status", "connect", "read", "write", "timeout") if queries[kind]}
    if failed:
        problems.append(f"queries failed: {failed}")
    if not queries["requests"]:
        problems.append("no query was sent")
    if report["odd"]:
        problems.append("some responses have another length")
    if report["counted_twice"]:
        problems.append(f"mutations that reached an upstream twice: {report['counted_twice'][:10]}")
    # An upstream that is killed after its response and before its line in the file leaves no line.
    if len(report["uncounted"]) > report["disturbed"].get("kill", 0):
        problems.append(f"mutations with a response that no upstream has counted: {report['uncounted'][:10]}")
    allowed = (MUTATION_CLIENTS + 1) * sum(report["disturbed"].values())
    if sum(report["failed_mutations"].values()) > allowed:
        problems.append(f"{report['failed_mutations']} mutations failed; {allowed} are allowed")
    if operator.taken_over < operator.take_overs or operator.listeners < 2:
        problems.append(f"the time was too short for {operator.take_overs} take-overs and two listeners")
    for digest, changed in operator.certificates[:1] if report["seconds"] < 2 * CERTIFICATE_SECONDS else operator.certificates:
        seen = handshakes.seen.get(digest)
        if seen is None or seen - changed > CERTIFICATE_SECONDS:
            problems.append(f"a new certificate was not in use after {CERTIFICATE_SECONDS} s")
    return problems


def even(text):
    count = at_least(2, 98)(text)
    if count % 2:
        raise argparse.ArgumentTypeError(f"{text} is not an even number")
    return count


def add_options(parser):
    add_seconds(parser, 60, "the time of the run", least=30)
    parser.add_argument("--threads", type=at_least(1, 99), default=1, metavar="N", help="the threads of the gateway (default: 1)")
    parser.add_argument(
        "--take-overs", type=even, default=2, metavar="N", help="how often another process takes over, an even number (default: 2)")
    add_program(parser)


def run(rig: Rig):
    options, executable, folder = rig.options, rig.program("carabiner", "carabiner-launcher", "carabiner-worker"), rig.folder
    plain, secure, third, *ports = free_ports(3 + UPSTREAMS)
    manifest = folder / "chain.yaml"
    endpoints = ", ".join(f'"http://127.0.0.1:{port}/graphql"' for port in ports)

    def write_manifest(more):
        draft = folder / "chain.draft"
        draft.write_text(MANIFEST.format(endpoints=endpoints, plain=plain, secure=secure, more=more))
        os.rename(draft, manifest)

    write_manifest("")
    traffic.certificate(folder / "tls")
    with contextlib.ExitStack() as stack:
        upstreams = [stack.enter_context(Upstream(folder / f"upstream{place}", port)) for place, port in enumerate(ports)]
        gateway = Gateway(rig, executable, manifest, options.threads)
        rig.wait_for(gateway.process, plain, "/graphql")
        url = f"http://127.0.0.1:{plain}/graphql"
        if traffic.answer(url)[1] != traffic.body():
            raise Failure("this is not the upstream's response")
        size = traffic.answer_size(plain)
        say(f"{options.seconds} seconds of queries and mutations")
        mutations = [Mutations(f"client{place}", plain) for place in range(MUTATION_CLIENTS)]
        handshakes, attacks = Handshakes(secure), Attacks(upstreams)
        operator = Operator(gateway, write_manifest, third, options.seconds, options.take_overs)
        with contextlib.ExitStack() as loops:
            for loop in (*mutations, handshakes, attacks, operator):
                loops.enter_context(loop)
            queries = traffic.wrk(url, options.seconds, timeout=20)
        # All requests have ended, and so have their lines in the files of the upstreams.
        rig.end()
    counted = collections.Counter(line for upstream in upstreams for line in upstream.mutations())
    succeeded = [identity for loop in mutations for identity in loop.succeeded]
    report = {
        "seconds": options.seconds, "queries": queries, "disturbed": dict(attacks.counts),
        "odd": not 0 <= queries["bytes"] - queries["requests"] * size < traffic.CONNECTIONS * size,
        "handshakes": handshakes.count, "certificates": len(handshakes.seen), "taken_over": operator.taken_over,
        "listeners": operator.listeners, "mutations": len(succeeded),
        "failed_mutations": dict(sum((loop.failed for loop in mutations), collections.Counter())),
        "counted_twice": sorted(identity for identity, count in counted.items() if count > 1),
        "uncounted": sorted(set(succeeded) - set(counted)),
    }
    rows = [
        ("queries", queries["requests"]), ("queries a second", f"{queries['requests'] / queries['seconds']:.0f}"),
        ("p50, ms", f"{queries['p50']:.2f}"), ("p99, ms", f"{queries['p99']:.2f}"), ("longest, ms", f"{queries['most']:.1f}"),
        ("queries over TLS, each with a handshake", handshakes.count), ("certificates seen", len(handshakes.seen)),
        ("mutations that succeeded", len(succeeded)), ("mutations that failed", report["failed_mutations"] or 0),
        ("mutations at an upstream twice", len(report["counted_twice"])),
        ("upstreams disturbed", ", ".join(f"{way}: {count}" for way, count in attacks.counts.items())),
        ("take-overs", operator.taken_over), ("listeners added and removed", operator.listeners),
    ]
    for label, value in rows:
        print(f"{label:<42}{value}")
    return report, attacks.problems + problems_of(report, operator, handshakes, mutations)
