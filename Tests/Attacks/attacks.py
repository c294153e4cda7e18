"""Attacks a gateway, its host and its loader with every attack in this folder, and checks that they withstand them.

usage: attacks.py CARABINER FOLDER [--seconds N] [--only FAMILY[/NAME]] [--health MILLISECONDS] [--list] [--json FILE]

Each attack runs beside two honest clients. After it the gateway has to be alive, every honest answer must have been the client's own,
/healthz must have answered within its limit throughout, and memory has to be within its bound. FOLDER is empty, and holds logs and whatever a failure leaves.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

import escapes
import hostile_clients
import hostile_files
import hostile_http2
import hostile_plugins
import hostile_sockets
import hostile_upstreams
import hostile_workers
from scene import MEGABYTES, PATIENCE, Broken, HonestClient, Machine, Scene

FAMILIES = {
    "clients": hostile_clients.ATTACKS, "http2": hostile_http2.ATTACKS, "sockets": hostile_sockets.ATTACKS,
    "upstreams": hostile_upstreams.ATTACKS, "plugins": list(hostile_plugins.ATTACKS), "workers": list(hostile_workers.ATTACKS),
    "files": [hostile_files.damaged], "escapes": escapes.ATTACKS,
}
# The additional growth that is allowed for clients without a window: the allocator returns little memory for a while.
ALLOWED = {"http2": 192}
# A busy machine needs a while to release the memory of the last requests. A leak stays.
SETTLE_SECONDS = 20
OPTIONS = [
    "--http2", "--maximum-body", "4MiB", "--receive-timeout", "20s", "--maximum-unsent", "64MiB", "--maximum-unsent-per-connection",
    "8MiB"]
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class Report:
    """Prints a line for each attack when it ends."""

    def __init__(self, health_limit):
        self.rows, self.health_limit = [], health_limit

    def add(self, name, seconds, outcome, problems, memory=None, health=None):
        self.rows.append({
            "attack": name, "seconds": round(seconds, 1), "outcome": outcome, "problems": problems, "growth_mb": memory,
            "longest_healthz_ms": health})
        mark = "ok  " if not problems else "FAIL"
        grew = "" if memory is None else f", memory {memory:+d} MB"
        grew += "" if health is None else f", /healthz {health:.0f} ms"
        print(f"{mark} {name:<32} {seconds:5.1f} s  {outcome}{grew}", flush=True)
        for problem in problems:
            print(f"     {problem}", flush=True)

    @property
    def failed(self):
        return [row for row in self.rows if row["problems"]]


def run(report, scene, name, attack, seconds, allowed=MEGABYTES, honest=True):
    """Runs one attack in a scene. Returns False if the gateway did not survive."""
    clients = [HonestClient(scene.port, f"{attack.__name__}-{n}") for n in range(2)] if honest else []
    for client in clients:
        client.start()
    begin, problems, outcome = time.monotonic(), [], ""
    try:
        outcome = attack(scene, begin + seconds) or ""
        scene.expect_alive()
    except Broken as error:
        problems.append(str(error))
    except (OSError, EOFError) as error:
        problems.append(f"the attack itself could not go on: {error!r}")
    for client in clients:
        client.stop()
        problems += client.problems[:3]
        if not client.asked:
            problems.append("an honest client got no turn")
    health, failure = scene.longest_health()
    if failure:
        problems.append(f"/healthz failed: {failure}")
    elif health > report.health_limit:
        problems.append(f"/healthz took {health:.0f} ms; {report.health_limit} ms are allowed")
    growth = None
    try:
        growth = scene.megabytes() - scene.baseline
        settled = time.monotonic() + SETTLE_SECONDS
        while growth > allowed and time.monotonic() < settled:
            time.sleep(0.25)
            growth = scene.megabytes() - scene.baseline
        if growth > allowed:
            problems.append(f"memory grew by {growth} MB; {allowed} MB are allowed")
    except Broken as error:
        problems.append(str(error))
    report.add(name, time.monotonic() - begin, outcome, list(dict.fromkeys(problems)), growth, health)
    return growth is not None


def gateway_family(report, machine, options, family, attacks, seconds):
    scene = None
    for attack in attacks:
        if scene is None:
            scene = Scene(machine, options.carabiner, options.folder / f"{family}-{attack.__name__}", options=OPTIONS)
        if not run(report, scene, f"{family}/{attack.__name__}", attack, seconds, ALLOWED.get(family, MEGABYTES)):
            scene = None


def compile_plugin(options, name):
    includes = [f"-I{REPOSITORY}/Sources/{module}/include" for module in ["CCarabiner", "CCrossing"]]
    subprocess.run(
        ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-Wl,-z,now",
         *includes, "-o", options.folder / f"{name}.so", REPOSITORY / f"Tests/Attacks/plugins/{name}.c"], check=True)


def worker_family(report, machine, options, attacks, seconds):
    compile_plugin(options, "worker")
    for attack in attacks:
        mode, allowed = hostile_workers.ATTACKS[attack]
        try:
            scene = Scene(
                machine, options.carabiner, options.folder / f"workers-{attack.__name__}", hostile_workers.manifest(mode), OPTIONS,
                CARABINER_LOG="info")
        except Broken as error:
            report.add(f"workers/{attack.__name__}", 0, "", [str(error)])
            continue
        run(report, scene, f"workers/{attack.__name__}", attack, seconds, allowed)
        machine.end(scene.gateway, scene.upstream, scene.health)


def plugin_family(report, machine, options, attacks, seconds):
    compile_plugin(options, "hostile")
    for attack in attacks:
        mode, grants, allowed = hostile_plugins.ATTACKS[attack]
        # Only this mode answers ordinary requests, so only it can have a warm-up.
        try:
            scene = Scene(
                machine, options.carabiner, options.folder / f"plugins-{attack.__name__}", hostile_plugins.manifest(mode, grants), OPTIONS,
                warm_up=mode == "split-request", MALLOC_MMAP_THRESHOLD_="131072")
        except Broken as error:
            report.add(f"plugins/{attack.__name__}", 0, "", [str(error)])
            continue
        run(report, scene, f"plugins/{attack.__name__}", attack, seconds, allowed, honest=False)
        machine.end(scene.gateway, scene.upstream, scene.health)


def file_family(report, options, seconds):
    begin, problems, outcome = time.monotonic(), [], ""
    folder = options.folder / "files"
    folder.mkdir()
    try:
        outcome = hostile_files.damaged(options.carabiner, folder, REPOSITORY / "Plugins/noop/build/noop.so", begin + seconds)
    except Broken as error:
        problems.append(str(error))
    report.add("files/damaged", time.monotonic() - begin, outcome, problems)


def escape_family(report, options, attacks):
    for attack in attacks:
        begin, problems, outcome = time.monotonic(), [], ""
        try:
            outcome = attack(options.carabiner, options.folder / f"escapes-{attack.__name__}")
        except (Broken, subprocess.CalledProcessError) as error:
            problems.append(str(error))
        report.add(f"escapes/{attack.__name__}", time.monotonic() - begin, outcome, problems)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("carabiner", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--only", default="")
    # A debug build on a busy machine takes a thousand times as long.
    parser.add_argument("--health", type=int, default=PATIENCE * 1000, metavar="MILLISECONDS")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    only_family, _, only_name = options.only.partition("/")
    chosen = {
        family: [attack for attack in attacks if only_name in ("", attack.__name__)] for family, attacks in FAMILIES.items()
        if only_family in ("", family)}
    chosen = {family: attacks for family, attacks in chosen.items() if attacks}
    if not chosen:
        sys.exit(f"there is no attack {options.only}; --list shows them")
    if options.list:
        for family, attacks in chosen.items():
            for attack in attacks:
                print(f"{family}/{attack.__name__:<24} {(attack.__doc__ or '').strip().splitlines()[0]}")
        return
    options.carabiner = options.carabiner.resolve()
    options.folder = options.folder.resolve()
    if shutil.which("cc") is None:
        sys.exit("cc is missing: apt-get install gcc")
    # Escapes are made once and take the time that they need.
    timed = sum(len(attacks) for family, attacks in chosen.items() if family != "escapes")
    seconds = max(1, options.seconds / max(1, timed))
    report = Report(options.health)
    with Machine(options.folder) as machine:
        for family, attacks in chosen.items():
            if family == "plugins":
                plugin_family(report, machine, options, attacks, seconds)
            elif family == "workers":
                worker_family(report, machine, options, attacks, seconds)
            elif family == "files":
                file_family(report, options, seconds)
            elif family == "escapes":
                escape_family(report, options, attacks)
            else:
                gateway_family(report, machine, options, family, attacks, seconds)
    if options.json:
        options.json.write_text(json.dumps({"seconds": options.seconds, "attacks": report.rows}, indent=2) + "\n")
    print(f"{len(report.rows) - len(report.failed)} attacks held off, {len(report.failed)} succeeded")
    sys.exit(1 if report.failed else 0)


main()
