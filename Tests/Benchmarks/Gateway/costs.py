"""Measures the processor time of a request in carabiner serve, nginx and Envoy, each on its own core, alternately. Then it measures
latencies, and counts the user instructions of a request. Each part has another kind of requests, and its own table.

usage: costs.py CARABINER FOLDER --tools DIR [--envoy FILE] [--part NAME]… [--seconds N] [--rounds N] [--clients N] [--only NAME]
                [--json FILE] [--no-instructions]

FOLDER is empty. DIR has headers.so for carabiner, libheaders.so for Envoy, sigsuspend.so for callgrind, and subscribers.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import instructions
import parts
import proxies
import rig


def say(text):
    print(f"== {text}", file=sys.stderr)


def measure(options, part, programs):
    """Times of all programs, which run in turns, as figures by program."""
    cores = sorted(os.sched_getaffinity(0))
    core, other = cores[0], cores[1]
    with rig.Rig(part.folder) as machine:
        upstream = part.upstream(machine, other)
        sessions = {}
        for program in programs:
            session = part.open(machine, program, upstream, core, other)
            warm_up(session)
            sessions[program.name] = session
        samples = {name: [] for name in sessions}
        for number in range(options.rounds):
            for name, session in sessions.items():
                before = rig.cpu_seconds(session.process)
                try:
                    result = session.run(options.seconds)
                except RuntimeError as error:
                    sys.exit(f"{name}: {error}")
                used = rig.cpu_seconds(session.process) - before
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
                except RuntimeError as error:
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
        except (RuntimeError, SystemExit) as error:
            rig.raise_if_terminated(error)
            reason = error
    sys.exit(f"{session.process.name}: {reason}")


def figures(samples, latencies, memory):
    def median(name):
        return statistics.median(sample[name] for sample in samples)

    costs = [sample["microseconds"] for sample in samples]
    return {
        "median": statistics.median(costs), "least": min(costs), "most": max(costs), "busy": median("busy"),
        "rate": median("rate"), "p50": median("p50"), "p99": median("p99"), "latencies": latencies, "kb_per_client": memory,
        "samples": samples}


def count(options, part, programs):
    """The user instructions of a request by program. A program that the tool cannot run has none."""
    counts = {}
    for program in programs:
        try:
            counted = instructions.count(part.folder, options.tools / "sigsuspend.so", part, program)
            counts[program.name] = counted["instructions"]
        except (Exception, SystemExit) as error:
            rig.raise_if_terminated(error)
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


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("carabiner", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--envoy", type=pathlib.Path)
    parser.add_argument("--part", action="append", choices=list(parts.PARTS), dest="names")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--no-instructions", dest="instructions", action="store_false")
    options = parser.parse_args()
    options.tools = options.tools.resolve()
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("two cores are needed: one for what is measured, and one for clients and upstream")
    if not options.envoy:
        say("Envoy is left out, because it is not installed")
    # This valgrind cannot read the compiler's debug information.
    stripped = options.folder / "carabiner"
    subprocess.run(["strip", "-g", "-o", stripped, options.carabiner], check=True)

    def programs(part, executable):
        every = part.programs(executable, options.envoy, options.tools)
        return [program for program in every if options.only in program.name]

    results, ratios, failed, found = {}, {}, [], []
    for name in dict.fromkeys(options.names or parts.PARTS):
        part = parts.make(name, options.folder / name, options.tools / "subscribers", options.clients)
        if not programs(part, options.carabiner):
            say(f"{name} is left out: no program has “{options.only}” in its name; the programs are: "
                + "; ".join(program.name for program in part.programs(options.carabiner, options.envoy, options.tools)))
            continue
        reason = part.missing()
        if reason:
            say(f"{name} is left out: {reason}")
            continue
        try:
            measured = measure(options, part, programs(part, options.carabiner))
        except (RuntimeError, SystemExit) as error:
            rig.raise_if_terminated(error)
            say(f"{name} failed: {error}")
            failed.append(name)
            continue
        counts = count(options, part, programs(part, stripped)) if options.instructions and part.counted else {}
        for program, figure in measured.items():
            figure["instructions"] = counts.get(program)
        show(part, measured)
        ratios[name] = ratio_of(measured)
        if name == "post":
            found.append((name, aims(measured)))
        elif isinstance(part, parts.Worker):
            found.append((name, worker_aims(part, measured)))
        results[name] = {"title": part.title, "unit": part.unit, "ratio": ratios[name], "figures": measured}
    for name, ratio in ratios.items():
        if ratio is not None:
            print(f"{name}: {proxies.OURS}, beside {proxies.THEIRS}: {ratio:.2f}")
    for name, figures_and_aims in found:
        print()
        show_aims(name, figures_and_aims)
    if options.json:
        options.json.write_text(json.dumps(
            {"seconds": options.seconds, "rounds": options.rounds, "aim": proxies.AIM, "parts": results}, indent=2) + "\n")
    if failed:
        sys.exit(f"These parts failed: {', '.join(failed)}. Measure them again with --part NAME; the reasons are above.")
    if not results:
        sys.exit("nothing was measured; the reasons are above")


main()
