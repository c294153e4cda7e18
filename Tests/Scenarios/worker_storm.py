# worker-test.39: with workers.
"""The storm on a gateway whose plugin is in workers: they are killed and stopped. Each failure must be one that the rules allow.

Three runs: undisturbed; disturbed, with a manifest that starts workers again as often as they end; and for ten seconds with the default
settings, where the circuit of the worker opens.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import threading
import time

import reloads
import traffic
from gateway import Gateway
from loop import Client
from machine import Failure, descendants
from rig import say

# Workers that end are started again after a millisecond, however often. A stopped one is killed soon.
HARDENED = "{mode: worker, workers: 2, hang: 200ms, restart: {backoff: 1ms, maximum: 1ms, after: 1000, within: 1s}}"
MANIFEST = """carabiner: 1
serve: {{return-headers: [x-stamp-*]}}
plugins: [{{name: stamp, file: stamp.so, isolation: {isolation}}}]
chain: {{http: [stamp, response-code]}}
"""
# The time of the run with the default settings, and the number of its clients.
DEFAULT_SECONDS, DEFAULT_CLIENTS = 10, 8
# The memory that may be left for each worker that ended: a few kB of the allocator.
KB_PER_END = 4
# Descriptors that may be open for other reasons at the end: connections that are not closed yet.
DESCRIPTORS_KEPT = 16


def is_worker(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"carabiner-worker\0")
    except OSError:
        return False


def workers(pid):
    """The workers of a gateway, as process numbers. Without those in which a reload tries the plugin, in a process of its own."""
    trials = [child for child in descendants(pid) if program(child) == program(pid)]
    tried = {child for trial in trials for child in descendants(trial)}
    return [child for child in descendants(pid) if child not in tried and is_worker(child)]


def program(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def state(pid):
    """The letter of a process's state, as in ps; empty if it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


class Attacks:
    """Signals to the workers of a gateway, from a fixed sequence of random numbers."""

    def __init__(self, gateway):
        self.gateway, self.chance, self.lock = gateway, random.Random(17), threading.Lock()
        self.killed, self.stopped = 0, 0

    def send(self, number):
        """Sends a signal to one of the workers that run. Returns whether there was one."""
        with self.lock:
            running = [pid for pid in workers(self.gateway.pid) if state(pid) in ("R", "S", "D")]
            if not running:
                return False
            pid = self.chance.choice(running)
            try:
                # The number may belong to another process by now: the descriptor does not.
                process = os.pidfd_open(pid)
            except OSError:
                return False
            try:
                if pid not in workers(self.gateway.pid):
                    return False
                signal.pidfd_send_signal(process, number)
                return True
            except OSError:
                return False
            finally:
                os.close(process)

    def kill(self):
        self.killed += self.send(signal.SIGKILL)

    def stop(self):
        self.stopped += self.send(signal.SIGSTOP)


class CheckingClient(Client):
    """Checks that each response is one of those of the rules."""

    def __init__(self, port, may_be_refused):
        super().__init__(port, timeout=10)
        self.may_be_refused, self.answers = may_be_refused, collections.Counter()

    def turn(self):
        if response := self.ask(traffic.QUERY):
            status, _, text = response
            self.answers[status] += 1
            if problem := self.problem(*response):
                self.problems.append(f"{problem}: {status} {text[:300]}")

    def problem(self, status, headers, text):
        if status == 200:
            return None if text == traffic.body() and headers.get("x-stamp-up") in ("one", "two") else "another response"
        try:
            code = json.loads(text)["errors"][0]["extensions"]["code"]
        except (ValueError, LookupError, TypeError):
            return "a response without a code"
        if status == 500:
            return None if code == "INTERCEPTOR_FAILED" else "another code"
        if status != 503:
            return "another status"
        if code != "UNAVAILABLE" or not re.fullmatch("[1-9][0-9]*", headers.get("Retry-After", "")):
            return "503 without its code or Retry-After"
        return None if self.may_be_refused else "a request is refused although workers are started again at once"


class WorkerGateway(Gateway):
    """carabiner serve with the plugin in workers."""

    def __init__(self, rig, executable, endpoint, name, isolation):
        manifest = rig.folder / f"{name}.yaml"
        manifest.write_text(MANIFEST.format(isolation=isolation))
        super().__init__(rig, executable, manifest, "--endpoint", endpoint, name=name, CARABINER_LOG="critical")
        self.expect_stamp()
        if not workers(self.process.pid):
            raise Failure("the gateway has no worker; is this its own program?")

    def run(self, seconds):
        """One run of wrk beside one checking client."""
        client = CheckingClient(self.port, may_be_refused=False)
        return self.measured(seconds, client) | {"checked": sum(client.answers.values()), "problems": client.problems}

    def is_recovered(self, count, descriptors):
        """Whether all workers run, and no more descriptors are open than before."""
        left = [state(pid) for pid in workers(self.process.pid)]
        return len(left) == count and "T" not in left and not more_descriptors(descriptors, self.descriptors())

    def descriptors(self):
        """The number of open descriptors by what they are."""
        kinds = {}
        for number in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                kind = re.sub(r"[0-9]+", "N", os.readlink(f"/proc/{self.process.pid}/fd/{number}"))
            except OSError:
                continue
            kinds[kind] = kinds.get(kind, 0) + 1
        return kinds


def with_defaults(gateway):
    """Kills a worker with default settings every 200 ms, until its circuit is open. Returns the statuses and the problems."""
    attacks = Attacks(gateway.process)
    clients = [CheckingClient(gateway.port, may_be_refused=True) for _ in range(DEFAULT_CLIENTS)]
    with contextlib.ExitStack() as stack:
        for client in clients:
            stack.enter_context(client)
        end = time.monotonic() + DEFAULT_SECONDS
        while time.monotonic() < end:
            time.sleep(0.2)
            attacks.kill()
    statuses = sum((client.answers for client in clients), collections.Counter())
    problems = [problem for client in clients for problem in client.problems]
    if not statuses[200] or not statuses[503]:
        problems.append(f"with the defaults, some requests should succeed and some be refused; the statuses are {dict(statuses)}")
    return {"seconds": DEFAULT_SECONDS, "killed": attacks.killed, "statuses": statuses}, problems


def more_descriptors(before, after):
    """The kinds of which there are more; empty if there are as many descriptors as before, but for a few."""
    if sum(after.values()) <= sum(before.values()) + DESCRIPTORS_KEPT:
        return {}
    return {kind: count - before.get(kind, 0) for kind, count in after.items() if count > before.get(kind, 0)}


def problems_of(report):
    problems = []
    for name in ("undisturbed", "disturbed"):
        run = report[name]
        problems += [f"{name}: {problem}" for problem in run["problems"]]
        if run["failed"] or run["lost"]:
            problems.append(f"{name}: {run['failed']} requests failed otherwise and {run['lost']} were lost")
    if report["undisturbed"]["crashed"]:
        problems.append("a worker ended although nothing disturbed it")
    if report["disturbed"]["crashed"] > report["allowed_crashed"]:
        problems.append(f"{report['disturbed']['crashed']} requests ended with their worker")
    if not report["killed"] or not report["stopped"]:
        problems.append("no worker was killed, or none was stopped")
    more = more_descriptors(*report["descriptors"])
    if more:
        problems.append(f"descriptors are left open: {more}")
    if len(report["workers_left"]) != report["workers"] or "T" in report["workers_left"]:
        problems.append(f"{report['workers']} workers are needed, and those left have the states {report['workers_left']}")
    return problems


def show(storm, report):
    storm.show(
        ("undisturbed", "disturbed"), report["undisturbed"], report["disturbed"], report,
        [("ended with a worker", "crashed", "{}"), ("refused (503)", "unavailable", "{}")],
        [("workers killed", "killed"), ("workers stopped", "stopped")])
    print(f"{'descriptors':<20}" + "".join(f"{sum(kinds.values()):>18}" for kinds in report["descriptors"]))
    ends, defaults = report["killed"] + report["stopped"], report["defaults"]
    print(f"{report['disturbed']['crashed'] / max(1, ends):.2f} requests ended with each of {ends} workers; "
          f"{report['allowed_crashed']} are allowed")
    statuses = ", ".join(f"{status}: {count}" for status, count in sorted(defaults["statuses"].items()))
    print(f"default settings, {defaults['killed']} kills in {defaults['seconds']} s: {statuses}")


def run(rig, executable, plugin, endpoint):
    options, seconds = rig.options, rig.options.seconds
    gateway = WorkerGateway(rig, executable, endpoint, "gateway", HARDENED)
    traffic.wrk(gateway.url, 2)
    say(f"{seconds} seconds without and {seconds} seconds with kills, stops and reloads, and ten seconds with the default settings")
    count = len(workers(gateway.process.pid))
    calm, descriptors, attacks = gateway.run(seconds), [gateway.descriptors()], Attacks(gateway.process)
    with reloads.Storm(
        gateway, plugin, options, [(options.kill_every, attacks.kill), (options.stop_every, attacks.stop)]) as storm:
        stormy = gateway.run(seconds)
    gateway.admin.settled()
    # The host notices a stopped worker by the next call.
    traffic.wrk(gateway.url, 2)
    # A plugin may read the message of a hook that took too long for 60 s. Memory and event loop of its generation stay as long.
    for _ in range(900):
        if gateway.is_recovered(count, descriptors[0]):
            break
        time.sleep(0.1)
    ends = attacks.killed + attacks.stopped
    figures = storm.figures(KB_PER_END * ends)
    descriptors.append(gateway.descriptors())
    left = [state(pid) for pid in workers(gateway.process.pid)]
    plugin.restore()
    defaults, problems = with_defaults(WorkerGateway(rig, executable, endpoint, "standard", "worker"))
    # The end of a worker costs at most the hooks that it had begun: those of all connections.
    report = figures | {
        "seconds": seconds, "workers": count, "undisturbed": calm, "disturbed": stormy, "killed": attacks.killed,
        "stopped": attacks.stopped, "descriptors": descriptors, "workers_left": left,
        "allowed_crashed": ends * (traffic.CONNECTIONS + 1), "defaults": defaults}
    show(storm, report)
    return report, problems + storm.problems_of(report) + problems_of(report)
