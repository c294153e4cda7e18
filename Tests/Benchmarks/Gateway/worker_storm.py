"""Drives carabiner serve at full speed while the workers of its plugin are killed and stopped, its manifest is reloaded, and the
plugin's file is overwritten. Counts the requests that failed, and checks that each failure is one that the rules allow.

usage: worker_storm.py CARABINER FOLDER --builds A B [--seconds N] [--kill-every SECONDS] [--stop-every SECONDS]
                       [--reload-every SECONDS] [--overwrite-every SECONDS] [--json FILE]

FOLDER is empty, and A and B are two builds of the plugin. Three runs: undisturbed; disturbed, with a manifest that starts workers again
as often as they end; and for ten seconds with the default settings, where the circuit of the worker opens.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import re
import signal
import sys
import threading
import time

import rig
import storm

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
    trials = [child for child in rig.descendants(pid) if program(child) == program(pid)]
    tried = {child for trial in trials for child in rig.descendants(trial)}
    return [child for child in rig.descendants(pid) if child not in tried and is_worker(child)]


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


class Client(threading.Thread):
    """Sends requests one after another, and checks that each response is one of those of the rules."""

    def __init__(self, port, may_be_refused):
        super().__init__()
        self.port, self.over, self.may_be_refused = port, threading.Event(), may_be_refused
        self.answers, self.problems = {}, []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        while not self.over.is_set() and len(self.problems) < 10:
            try:
                connection.request("POST", "/graphql", rig.QUERY, {"Content-Type": "application/json"})
                response = connection.getresponse()
                text = response.read().decode()
            except (OSError, http.client.HTTPException) as error:
                self.problems.append(f"a request has no response: {error!r}")
                connection.close()
                continue
            self.answers[response.status] = self.answers.get(response.status, 0) + 1
            problem = self.problem(response.status, response.headers, text)
            if problem:
                self.problems.append(f"{problem}: {response.status} {text[:300]}")
        connection.close()

    def problem(self, status, headers, text):
        if status == 200:
            return None if text == rig.body() and headers.get("x-stamp-up") in ("one", "two") else "another response"
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

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


class Gateway:
    """carabiner serve with the plugin in workers."""

    def __init__(self, machine, executable, upstream, name, isolation):
        folder = machine.folder
        (self.port,) = rig.free_ports(1)
        (folder / f"{name}.yaml").write_text(MANIFEST.format(isolation=isolation))
        self.socket = folder / f"{name}.sock"
        self.process = machine.start(
            name, [executable, "serve", "-m", folder / f"{name}.yaml", "--listen", f"127.0.0.1:{self.port}", "--admin",
                   f"unix:{self.socket}", "--endpoint", f"http://127.0.0.1:{upstream}/graphql"], CARABINER_LOG="critical")
        machine.wait_for(self.process, self.port, "/graphql")
        self.url, self.admin = f"http://127.0.0.1:{self.port}/graphql", storm.Admin(self.socket)
        head, text = rig.answer(self.url)
        if text != rig.body() or head.get("x-stamp-up") != "one":
            sys.exit(f"this is not the upstream's answer with the plugin's stamp:\n{head}\n{text}")
        if not workers(self.process.pid):
            sys.exit("the gateway has no worker; is this its own program?")

    def measured(self, seconds):
        """One run of wrk beside one checking client, with the gateway's own counts."""
        # The requests that an earlier run cut off have ended.
        self.admin.settled()
        before = self.admin.counts()
        with Client(self.port, may_be_refused=False) as client:
            result = rig.wrk(self.url, seconds)
        status = self.admin.settled()
        after = self.admin.counts()
        change = {name: after[name] - before[name] for name in after}
        checked = sum(client.answers.values())
        result["crashed"], result["unavailable"] = change["crashed"], change["unavailable"]
        # Failures of another kind than those of calls that a worker took with it.
        result["failed"] = (result["connect"] + result["read"] + result["write"] + change["answered"] - change["good"]
                            - change["crashed"])
        # Responses and disconnections that the clients did not count. At its end, wrk cuts off at most one request for each connection.
        unseen = max(0, change["answered"] + change["cancelled"] - result["requests"] - checked - rig.CONNECTIONS)
        result["lost"] = result["timeout"] + unseen + status["operations"]["running"] + status["operations"]["waiting"]
        result["rate"] = result["requests"] / result["seconds"]
        result["checked"], result["problems"] = checked, client.problems
        return result

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
    clients = [Client(gateway.port, may_be_refused=True) for _ in range(DEFAULT_CLIENTS)]
    for client in clients:
        client.start()
    end = time.monotonic() + DEFAULT_SECONDS
    while time.monotonic() < end:
        time.sleep(0.2)
        attacks.kill()
    for client in clients:
        client.over.set()
    statuses, problems = {}, []
    for client in clients:
        client.join()
        problems += client.problems
        for status, count in client.answers.items():
            statuses[status] = statuses.get(status, 0) + count
    if not statuses.get(200) or not statuses.get(503):
        problems.append(f"with the defaults, some requests should succeed and some be refused; the statuses are {statuses}")
    if gateway.process.poll() is not None:
        problems.append(f"the gateway with the defaults ended with the status {gateway.process.returncode}")
    return {"seconds": DEFAULT_SECONDS, "killed": attacks.killed, "statuses": statuses}, problems


def show(report):
    calm, stormy, ends = report["undisturbed"], report["disturbed"], report["killed"] + report["stopped"]
    rows = [("", "undisturbed", "disturbed")]
    for label, name, form in [
        ("requests", "requests", "{}"), ("requests a second", "rate", "{:.0f}"), ("ended with a worker", "crashed", "{}"),
        ("refused (503)", "unavailable", "{}"), ("failed otherwise", "failed", "{}"), ("lost", "lost", "{}"),
        ("p50, ms", "p50", "{:.2f}"), ("p99, ms", "p99", "{:.2f}"), ("longest, ms", "most", "{:.1f}"),
    ]:
        rows.append((label, form.format(calm[name]), form.format(stormy[name])))
    for label, name in [
        ("workers killed", "killed"), ("workers stopped", "stopped"), ("reloads accepted", "accepted"), ("reloads refused", "refused"),
        ("plugin overwritten", "overwritten"), ("generations retired", "retired"),
    ]:
        rows.append((label, "", str(report[name])))
    rows += [("resident, kB", *map(str, report["resident_kb"])),
             ("descriptors", *(str(sum(kinds.values())) for kinds in report["descriptors"]))]
    for label, left, right in rows:
        print(f"{label:<20}{left:>18}{right:>18}")
    print(f"{stormy['crashed'] / max(1, ends):.2f} requests ended with each of {ends} workers; {report['allowed_crashed']} are allowed")
    defaults = report["defaults"]
    statuses = ", ".join(f"{status}: {count}" for status, count in sorted(defaults["statuses"].items()))
    print(f"default settings, {defaults['killed']} kills in {defaults['seconds']} s: {statuses}")


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
    if not report["accepted"] or report["retired"] < report["accepted"]:
        problems.append(f"{report['accepted']} reloads were accepted, and {report['retired']} generations retired")
    growth, bound = report["resident_kb"][1] - report["resident_kb"][0], report["allowed_growth_kb"]
    if growth > bound:
        problems.append(f"the memory grew by {growth} kB; {bound} kB are allowed")
    more = more_descriptors(*report["descriptors"])
    if more:
        problems.append(f"descriptors are left open: {more}")
    if len(report["workers_left"]) != report["workers"] or "T" in report["workers_left"]:
        problems.append(f"{report['workers']} workers are needed, and those left have the states {report['workers_left']}")
    return problems


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("carabiner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--builds", nargs=2, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--kill-every", type=float, default=0.2)
    parser.add_argument("--stop-every", type=float, default=1)
    parser.add_argument("--reload-every", type=float, default=0.2)
    parser.add_argument("--overwrite-every", type=float, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    plugin = options.folder / "stamp.so"
    plugin.write_bytes(pathlib.Path(options.builds[0]).read_bytes())
    os.chmod(plugin, 0o755)
    (upstream,) = rig.free_ports(1)
    with rig.Rig(options.folder) as machine:
        machine.upstream(upstream)
        gateway = Gateway(machine, options.carabiner, upstream, "gateway", HARDENED)
        rig.wrk(gateway.url, 2)
        report = {"seconds": options.seconds, "workers": len(workers(gateway.process.pid))}
        report["undisturbed"] = gateway.measured(options.seconds)
        before, memory, descriptors = gateway.admin.settled(), [rig.resident_kb(gateway.process)], [gateway.descriptors()]
        attacks = Attacks(gateway.process)
        with storm.Storm(
            gateway.socket, plugin, options.builds, options.reload_every, options.overwrite_every,
            [(options.kill_every, attacks.kill), (options.stop_every, attacks.stop)]) as weather:
            report["disturbed"] = gateway.measured(options.seconds)
        after = gateway.admin.settled()
        # The host notices a stopped worker by the next call.
        rig.wrk(gateway.url, 2)
        # A plugin may read the message of a hook that took too long for 60 s. Memory and event loop of its generation stay as long.
        for _ in range(900):
            left = [state(pid) for pid in workers(gateway.process.pid)]
            if len(left) == report["workers"] and "T" not in left and not more_descriptors(descriptors[0], gateway.descriptors()):
                break
            time.sleep(0.1)
        memory.append(rig.resident_kb(gateway.process))
        descriptors.append(gateway.descriptors())
        report |= {
            "killed": attacks.killed, "stopped": attacks.stopped, "accepted": weather.accepted,
            "refused": after["reloads"]["refused"], "overwritten": weather.overwritten,
            "retired": after["generation"] - before["generation"], "resident_kb": memory, "descriptors": descriptors,
            "workers_left": left}
        ends = attacks.killed + attacks.stopped
        # The end of a worker costs at most the hooks that it had begun: those of all connections.
        report["allowed_crashed"] = ends * (rig.CONNECTIONS + 1)
        report["allowed_growth_kb"] = storm.KB_KEPT + storm.KB_PER_GENERATION * report["retired"] + KB_PER_END * ends
        plugin.write_bytes(pathlib.Path(options.builds[0]).read_bytes())
        standard = Gateway(machine, options.carabiner, upstream, "standard", "worker")
        report["defaults"], problems = with_defaults(standard)
    problems += weather.problems + problems_of(report)
    if gateway.process.returncode != 0:
        problems.append(f"the gateway ended with the status {gateway.process.returncode}")
    show(report)
    for reason in sorted(set(weather.refused)):
        print(f"refused: {weather.refused.count(reason)} times: {reason.replace(str(options.folder), '…')}")
    if options.json:
        options.json.write_text(json.dumps(report | {"problems": problems}, indent=2) + "\n")
    if problems:
        log = (options.folder / "gateway.log").read_text()
        sys.exit("\n".join(problems) + (f"\nthe last of the gateway's log:\n{log[-2000:]}" if log else ""))


main()
