"""Counts the instructions and allocations of the subjects under valgrind, and compares them with guards.json.

usage: guard.py FOLDER [--update] [--json FILE] [--filter TEXT] [--gateway debug|release]

FOLDER has the program to count with, `count`, and the plugins of the benchmarks. With --gateway the subjects are requests to
`carabiner serve`, and FOLDER has `carabiner`, headers.so and sigsuspend.so.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

GUARDS = pathlib.Path(__file__).with_name("guards.json")
# The allowed increase in instructions: compilers and libraries change some of them.
TOLERANCE = 0.02
# The allowed increase in allocations of a request to the gateway: its threads share some work between requests.
GATEWAY_ALLOCATIONS = 2
# For each build of the gateway: the requests of the shorter run, and the allowed increase in instructions. In the debug build, work
# that a change adds is a smaller share of all instructions, and counts vary less.
GATEWAY = {"debug": (100, 0.01), "release": (200, 0.02)}
# Long-running subjects, for which a few runs are enough.
FEW = {"json.parse", "json.locate", "multipart", "cache.write100k", "cache.read100k"}
# Processor features that libraries use to choose their copy, compare and search functions.
FEATURES = "sse4_2 avx avx2 bmi1 bmi2 erms fsrm abm movbe rtm avx512f avx512bw avx512vl asimd sve sve2 mops"


def said(*command):
    """The output of a command; empty if the command does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def machine():
    """The environment that instruction counts depend on, besides our code."""
    processor = pathlib.Path("/proc/cpuinfo").read_text()
    names = re.findall(r"^(?:model name|CPU part)\s*: (.*)", processor, re.M)
    flags = set((re.findall(r"^(?:flags|Features)\s*: (.*)", processor, re.M) or [""])[0].split())
    # Different processors have one name.
    kinds = [f", {word} {value[1]}" for word in ("cpu family", "model") if (value := re.search(rf"^{word}\s*: (\d+)", processor, re.M))]
    return {
        "processor": (names[0] if names else "unknown") + "".join(kinds),
        "features": " ".join(feature for feature in FEATURES.split() if feature in flags),
        "libc": said("dpkg-query", "-W", "-f", "${Version}", "libc6") or said("getconf", "GNU_LIBC_VERSION"),
        "swift": (re.findall(r"\((swift\S*)\)", said("swift", "--version")) or ["unknown"])[0],
        "valgrind": said("valgrind", "--version"),
    }


def count(folder, subject):
    """The instructions and allocations of one piece of work."""
    times = 4 if subject in FEW else 100
    # Deterministic hashes and no helper threads, so that all runs are equal.
    environment = {"PATH": os.environ["PATH"], "SWIFT_DETERMINISTIC_HASHING": "1", "HOME": folder}
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/{subject}.out", "--toggle-collect=*runCounted*"]
    done = subprocess.run(
        command + [f"{folder}/count", subject, folder, str(times)], env=environment, capture_output=True, text=True)
    collected = re.search(r"Collected : ([1-9]\d*)", done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f"{subject} could not be counted:\n{done.stderr}")
    return {"instructions": round(int(collected[1]) / (times + 1)), "allocations": round(float(done.stdout), 2)}


def compare(counted, before, is_same_machine, tolerance=TOLERANCE, allocations=0):
    """Prints a table. Returns the subjects that got worse.

    tolerance is the allowed increase in instructions, as a share, and allocations that in allocations.
    """
    worse = []
    print(f"{'subject':20}{'allocations':>12}{'before':>9}{'instructions':>14}{'before':>14}{'change':>9}")
    for name, now in counted.items():
        then = before.get(name)
        change = f"{now['instructions'] / then['instructions'] - 1:+.1%}" if then else "new"
        old = (f"{then['allocations']:g}", f"{then['instructions']:,}") if then else ("", "")
        print(f"{name:20}{now['allocations']:>12g}{old[0]:>9}{now['instructions']:>14,}{old[1]:>14}{change:>9}")
        if not then:
            worse.append(f"{name} is not in {GUARDS.name}")
            continue
        if now["allocations"] > then["allocations"] + allocations:
            worse.append(f"{name} takes {now['allocations']:g} allocations, and took {then['allocations']:g}")
        if now["allocations"] < then["allocations"] - allocations:
            print(f"{name} takes fewer allocations than is written down: keep that with --update")
        if is_same_machine and now["instructions"] > then["instructions"] * (1 + tolerance):
            worse.append(f"{name} takes {now['instructions']:,} instructions, and took {then['instructions']:,}")
    return worse


def count_subjects(folder, text):
    """The counts of the subjects whose name contains a text."""
    names = [name for name in said(f"{folder}/count").split() if text in name]
    if not names:
        sys.exit("no subject has that in its name")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lambda name: count(folder, name), names)))


def count_gateway(folder, configuration):
    """The counts of requests to the gateway."""
    sys.path.insert(0, str(pathlib.Path(__file__).with_name("Gateway")))
    import guarded
    try:
        return guarded.count(folder, GATEWAY[configuration][0])
    except RuntimeError as error:
        sys.exit(str(error))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--gateway", choices=list(GATEWAY))
    options = parser.parse_args()
    recorded = json.loads(GUARDS.read_text()) if GUARDS.exists() else {}
    if options.gateway:
        counted = count_gateway(options.folder, options.gateway)
        allowed = {"tolerance": GATEWAY[options.gateway][1], "allocations": GATEWAY_ALLOCATIONS}
        section = recorded.setdefault("gateway", {}).setdefault(options.gateway, {})
        script = "Scripts/guard --gateway" + (" --debug" if options.gateway == "debug" else "")
    else:
        counted = count_subjects(options.folder, options.filter)
        allowed, section, script = {}, recorded, "Scripts/guard"
    here = machine()
    before = section.get("machine", {})
    differences = [
        f"{part} is {value} here and was {before.get(part, 'unknown')}" for part, value in here.items() if value != before.get(part)
    ]
    worse = compare(counted, section.get("subjects", {}), not differences, **allowed)
    if differences:
        print(f"Only allocations were compared, not instructions: they were counted on another machine ({'; '.join(differences)}).")
    now = {"machine": here, "subjects": counted}
    if options.json:
        options.json.write_text(json.dumps(now, indent=2) + "\n")
    if options.update:
        section.update(now)
        GUARDS.write_text(json.dumps(recorded, indent=2) + "\n")
        print(f"written to {GUARDS.name}")
    elif worse:
        sys.exit("\n".join(worse) + f"\nIf that is worth it, say why in the commit and write it down with {script} --update.")


main()
