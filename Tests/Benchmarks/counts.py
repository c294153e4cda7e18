# worker.92, worker-test.48: the subjects are chains in process.
"""Count the instructions and allocations of hot paths, and compare them with the recorded counts.

Installs missing packages, builds the subjects in release, and runs each under valgrind. None may have more allocations than recorded in
Tests/Benchmarks/counts.json, or over 2 % more instructions. The counts do not depend on other programs. With another
kind of processor, libc, Swift or valgrind the instructions are printed and not compared, because libraries choose code by the
processor.

With --gateway, the subjects are requests to carabiner serve without stages and with ten C stages that each add a header both ways:
a query of 150 bytes by POST over one connection, with a response of 1 KB from nginx. A count is the difference of two runs with
different numbers of requests, so the start does not count. Two further allocations are allowed, and 2 % more instructions. CI counts
the debug build, which it has anyway, with its own record and 1 % more instructions. Frames that only unoptimized code allocates do not count.
"""

import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess

import instructions
import parts
import proxies
from machine import Failure
from rig import LIBRARY, ROOT, Rig, compile_c, executable, install, release, say, swift_build

RECORD = pathlib.Path(__file__).with_name("counts.json")
# The allowed increase in instructions: compilers and libraries change some of them.
TOLERANCE = 0.02
# The allowed increase in allocations of a request to the gateway: its threads share some work between requests.
GATEWAY_ALLOCATIONS = 2
# For each build of the gateway: the requests of the shorter run, and the allowed increase in instructions. In the debug build, work
# that a change adds is a smaller share of all instructions, and counts vary less.
GATEWAY = {"debug": (100, 0.01), "release": (200, 0.02)}
# Another process may take the port of a program before it listens.
ATTEMPTS = 3
# Long-running subjects, for which a few runs are enough.
FEW = {"json.parse", "multipart", "cache.write100k", "cache.read100k"} | {
    f"json.{work}.{text}" for work in ("locate", "tape") for text in ("100k", "numbers", "articles")}
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
    environment = {"PATH": os.environ["PATH"], "SWIFT_DETERMINISTIC_HASHING": "1", "HOME": str(folder)}
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/{subject}.out", "--toggle-collect=*runCounted*"]
    done = subprocess.run(
        command + [folder / "count", subject, folder, str(times)], env=environment, capture_output=True, text=True)
    collected = re.search(r"Collected : ([1-9]\d*)", done.stderr)
    if done.returncode != 0 or not collected:
        raise Failure(f"{subject} could not be counted:\n{done.stderr}")
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
            worse.append(f"{name} is not in {RECORD.name}")
            continue
        if now["allocations"] > then["allocations"] + allocations:
            worse.append(f"{name} takes {now['allocations']:g} allocations, and took {then['allocations']:g}")
        if now["allocations"] < then["allocations"] - allocations:
            print(f"{name} takes fewer allocations than is written down: keep that with --update")
        if is_same_machine and now["instructions"] > then["instructions"] * (1 + tolerance):
            worse.append(f"{name} takes {now['instructions']:,} instructions, and took {then['instructions']:,}")
    return worse


def count_subjects(rig, program, text=""):
    """The counts of the subjects whose name contains a text. program is carabiner-count."""
    subprocess.run([ROOT / "Scripts/build-plugins", "noop"], check=True)
    shutil.copy(ROOT / "Plugins/noop/build/noop.so", rig.folder)
    compile_c("Tests/Benchmarks/Plugins/headers.c", rig.folder / "headers.so", *LIBRARY)
    strip(program, rig.folder / "count")
    names = [name for name in said(rig.folder / "count").split() if text in name]
    if not names:
        raise Failure(f"no subject has “{text}” in its name")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lambda name: count(rig.folder, name), names)))


def strip(program, output):
    """Removes the compiler's debug information, which this valgrind cannot read."""
    subprocess.run(["strip", "-g", "-o", output, program], check=True)


class OneConnection(parts.Part):
    """Requests one after another. With more connections the counts vary, because requests share wake-ups."""

    connections = 1

    def __init__(self, folder, counted):
        super().__init__(folder)
        self.counted = counted


def count_requests(folder, name, stages, requests):
    """The counts of requests through some stages. folder has carabiner, headers.so and sigsuspend.so."""
    program = proxies.Program(name, stages, proxies.carabiner(folder / "carabiner", folder, stages))
    for attempt in range(1, ATTEMPTS + 1):
        try:
            part = OneConnection(folder / f"attempt-{attempt}", requests)
            return instructions.count(part.folder, folder / "sigsuspend.so", part, program, uses_counters=False)
        except Exception as error:
            say(f"{name} was not counted, attempt {attempt} of {ATTEMPTS}: {error}")
    raise Failure(f"{name} could not be counted")


def count_gateway(folder, configuration):
    """The counts of requests to the gateway."""
    subjects = {"serve.stages.0": [], "serve.stages.10": proxies.STAGES}
    # Each has a process of its own, which a signal ends with its programs.
    with concurrent.futures.ProcessPoolExecutor(len(subjects)) as pool:
        try:
            started = {
                name: pool.submit(count_requests, folder, name, stages, GATEWAY[configuration][0]) for name, stages in subjects.items()}
            return {name: counted.result() for name, counted in started.items()}
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def compare_with_record(counted, gateway=None, update=False):
    """Compares counts with the record, or updates it. Returns them with the machine, and the subjects that got worse."""
    recorded = json.loads(RECORD.read_text())
    section = recorded.setdefault("gateway", {}).setdefault(gateway, {}) if gateway else recorded
    here, before = machine(), section.get("machine", {})
    differences = [
        f"{part} is {value} here and was {before.get(part, 'unknown')}" for part, value in here.items() if value != before.get(part)
    ]
    allowed = {"tolerance": GATEWAY[gateway][1], "allocations": GATEWAY_ALLOCATIONS} if gateway else {}
    worse = compare(counted, section.get("subjects", {}), not differences, **allowed)
    if differences:
        print(f"Only allocations were compared, not instructions: they were counted on another machine ({'; '.join(differences)}).")
    now = {"machine": here, "subjects": counted}
    if update:
        section.update(now)
        RECORD.write_text(json.dumps(recorded, indent=2) + "\n")
        print(f"written to {RECORD.name}")
        return now, []
    if worse:
        worse.append("If that is worth it, say why in the commit and write it down with --update.")
    return now, worse


def add_options(parser):
    parser.add_argument("--gateway", action="store_true", help="count requests to the gateway, and build the command in release")
    parser.add_argument("--debug", action="store_true", help="with --gateway: use the command of the debug build")
    parser.add_argument("--update", action="store_true", help="write the counts and the kind of machine to counts.json")
    parser.add_argument("--filter", default="", metavar="TEXT", help="count only subjects whose name contains TEXT")
    parser.add_argument(
        "--program", type=executable, metavar="FILE",
        help="use this carabiner-count, or with --gateway this carabiner, instead of building it")


def check_options(parser, options):
    if options.debug and not options.gateway:
        parser.error("--debug is for --gateway")
    if options.filter and (options.gateway or options.update):
        parser.error("--gateway and --update take all subjects; leave out --filter")


def gateway_program(options):
    if options.program or not options.debug:
        return options.program or release("carabiner")
    program = ROOT / ".build/debug/carabiner"
    if not program.exists():
        raise Failure(f"{program} does not exist; build it with swift build --product carabiner")
    return program


def run(rig: Rig):
    options = rig.options
    say("installing packages for counting")
    install("valgrind", "libsimdjson-dev")
    if options.gateway:
        strip(gateway_program(options), rig.folder / "carabiner")
        for name, source in ("headers", "Plugins/headers.c"), ("sigsuspend", "Gateway/sigsuspend.c"):
            compile_c(f"Tests/Benchmarks/{source}", rig.folder / f"{name}.so", *LIBRARY)
        gateway = "debug" if options.debug else "release"
        say("counting")
        return compare_with_record(count_gateway(rig.folder, gateway), gateway, options.update)
    program = options.program or ROOT / ".build/counts/release/carabiner-count"
    if not options.program:
        say("building the subjects")
        swift_build(
            "-c", "release", "--scratch-path", ".build/counts", "--product", "carabiner-count", CARABINER_PACKAGE="bench-own")
    say("counting")
    return compare_with_record(count_subjects(rig, program, options.filter), update=options.update)
