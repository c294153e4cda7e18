"""Run long subscriptions against a real server, or end workers many times, and check that nothing grows.

Starts the server of Tests/Peers, and lets carabiner run read a subscription of N results over multipart HTTP and over both WebSocket
protocols. Prints the resident memory after a tenth of the results and at the end. No result may be missing, and the memory may grow by
at most 8 MiB.

With --workers, runs the tests of WorkerLossTests that kill workers: N times with 32 calls in flight, and N times to count what restarts
leave behind. A host starts ten workers a second, so this takes about 20 minutes.
"""

import os
import re
import subprocess
import time

from machine import Failure, resident_kb
from rig import PEERS, ROOT, Rig, add_program, at_least, say, swift_build

# The memory that a process may gain after a tenth of its results, because allocators keep pages.
ALLOWED_GROWTH_KB = 8192


def add_options(parser):
    for name, least, default, text in [
        ("--results", 10, 100_000, "the results of a subscription"), ("--kills", 1, 1000, "the kills with calls in flight"),
        ("--restarts", 1, 10_000, "the restarts whose remains are counted"),
    ]:
        parser.add_argument(name, type=at_least(least), default=default, metavar="N", help=f"{text} (default: {default})")
    parser.add_argument("--workers", action="store_true", help="end workers instead")
    add_program(parser)


def subscribe(rig, executable, name, query, *options):
    """Reads one subscription. Returns its number of results, and the memory after a tenth of them and at the end."""
    process = rig.start(name, [executable, "run", "--output", "jsonl", *options, query])

    def count():
        return sum(line.startswith("{") for line in (rig.folder / f"{name}.log").read_text().splitlines())

    early = last = 0
    while (memory := resident_kb(process)) is not None:
        last = memory
        if not early and count() >= rig.options.results / 10:
            early = last
        time.sleep(0.05)
    if process.wait() != 0:
        raise Failure(f"{name}: carabiner run ended with the status {process.returncode}:\n{rig.log(process)}")
    return {"results": count(), "resident_kb": [early or last, last]}


def kill_workers(options):
    say("building the tests")
    swift_build("--build-tests")
    environment = {"CARABINER_WORKER_KILLS": str(options.kills), "CARABINER_WORKER_RESTARTS": str(options.restarts)}
    problems = []
    for test in "inFlight", "restarts":
        done = subprocess.run(
            ["swift", "test", "--skip-build", "--filter", f"WorkerLossTests/{test}"], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, **environment})
        found = re.findall(r"^(?:\d+ kills, |held before |✘).*", done.stdout, re.MULTILINE)
        print("\n".join(found))
        if done.returncode != 0 or not found:
            problems.append(f"WorkerLossTests/{test} ended with the status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return {}, problems


def run(rig: Rig):
    options = rig.options
    if options.workers:
        return kill_workers(options)
    executable = rig.program("carabiner")
    port = rig.listening(rig.start("server", [PEERS, ROOT / "Tests/Peers/strawberry_server.py"]))
    query = rig.folder / "soak.graphql"
    query.write_text(f"subscription {{ countdown(start: {options.results - 1}, every: 0) }}")
    figures, problems = {}, []
    websocket = ["--websocket", f"ws://127.0.0.1:{port}/graphql"]
    for name, way in {
        "multipart HTTP": ["--endpoint", f"http://127.0.0.1:{port}/graphql"], "graphql-transport-ws": websocket,
        "graphql-ws": [*websocket, "--websocket-protocol", "graphql-ws"],
    }.items():
        found = figures[name] = subscribe(rig, executable, name, query, *way)
        early, last = found["resident_kb"]
        print(f"{name}: {found['results']} results, {early} kB after a tenth, {last} kB at the end", flush=True)
        if found["results"] != options.results:
            problems.append(f"{name}: {found['results']} results, and there should be {options.results}")
        if last - early > ALLOWED_GROWTH_KB:
            problems.append(f"{name}: memory grew by more than {ALLOWED_GROWTH_KB} kB")
    return figures, problems
