"""Run libFuzzer on the parsers of outside data. The tests replay its corpora.

Runs the named targets, or all, for N seconds each under libFuzzer and the address sanitizer. The seeds are in
Tests/Fixtures/Corpus/TARGET. New inputs stay in .build/fuzz-work for the next run. An input that breaks a target is kept in
.build/fuzz-work/found: copy it into the target's corpus and fix the parser.
"""

import argparse
import os
import re
import subprocess
import sys

from rig import ROOT, Rig, add_seconds, say, swift_build

PROGRAM, WORK = ROOT / ".build/fuzz/release/carabiner-fuzz", ROOT / ".build/fuzz-work"
# Each target has a folder of seeds.
SEEDS = ROOT / "Tests/Fixtures/Corpus"
TARGETS = sorted(folder.name for folder in SEEDS.iterdir())
SUCCESS = r"stat::number_of_executed_units|stat::average_exec_per_sec"
FAILURE = r"finding:|ERROR:|SUMMARY:|Fatal error|Test unit written"


def existing(text):
    if text not in TARGETS:
        raise argparse.ArgumentTypeError(f"there is no target {text}; --list prints the targets")
    return text


def add_options(parser):
    add_seconds(parser, 300, "the time per target")
    parser.add_argument("--build", action="store_true", help="build only")
    parser.add_argument("--list", action="store_true", help="print the targets")
    parser.add_argument("targets", nargs="*", type=existing, metavar="TARGET")


def fuzz(target, seconds):
    """Fuzzes a target. Returns whether it holds."""
    corpus = WORK / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    log = WORK / f"{target}.log"
    with open(log, "wb") as output:
        # Swift's crash handler would consume the sanitizer's report. Memory that the runtime never frees is not a leak.
        done = subprocess.run(
            [PROGRAM, target, corpus, SEEDS / target, f"-max_total_time={seconds}", "-max_len=4096",
             "-timeout=10", "-rss_limit_mb=2048", "-detect_leaks=0", "-print_final_stats=1", f"-artifact_prefix={WORK}/found/{target}-"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no", "ASAN_OPTIONS": "detect_leaks=0"})
    lines = log.read_text(errors="replace").splitlines()
    pattern = SUCCESS if done.returncode == 0 else FAILURE
    print("\n".join([line for line in lines if re.search(pattern, line)] or lines[-20:]), file=sys.stderr)
    return done.returncode == 0


def run(rig: Rig):
    options = rig.options
    if options.list:
        print("\n".join(TARGETS))
        return None
    say("building")
    swift_build(
        "-c", "release", "--scratch-path", ".build/fuzz", "--product", "carabiner-fuzz", "-Xswiftc", "-sanitize=fuzzer,address",
        "-Xswiftc", "-parse-as-library", "-Xcc", "-fsanitize=fuzzer-no-link,address", CARABINER_PACKAGE="fuzz")
    if options.build:
        return None
    (WORK / "found").mkdir(parents=True, exist_ok=True)
    targets, problems = options.targets or TARGETS, []
    for target in targets:
        say(f"{target} for {options.seconds} s")
        if not fuzz(target, options.seconds):
            problems.append(f"{target} is broken; the log is {WORK}/{target}.log, and the input is in {WORK}/found")
    return {"seconds": options.seconds, "targets": targets}, problems
