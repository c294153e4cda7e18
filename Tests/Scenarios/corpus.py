"""Run every faulty plugin of the corpus through every check.

Builds the command and the plugins of Tests/Fixtures/Plugins/bad, or the named ones (TH07, ER02.rs), and runs `carabiner conform
--level 10 --effort 0.05` on each, N times: exactly the check in the name of the plugin must fail. Then it runs the worst plugins,
which attack the harness, through the checks that load and unload a plugin: no process and no file may remain. The memory of the
harness is measured.

Without names, it also runs the good plugins, which must pass. A round takes up to an hour on two cores. The tests run the own
check of each plugin once.
"""

import os
import re
import subprocess
import sys
import time

from rig import ROOT, Rig, at_least, swift_build

OUTPUT = ROOT / ".build/test-output"


def add_options(parser):
    parser.add_argument("--rounds", type=at_least(1), default=3, metavar="N", help="the number of rounds (default: 3)")
    parser.add_argument("--worst", action="store_true", help="run only the worst plugins")
    parser.add_argument("names", nargs="*", metavar="NAME")


def run_tests(filter, log, lines, environment):
    """Runs the tests, and prints a line for each plugin when it is done. Returns the exit status and the lines."""
    lines.write_text("")
    with open(log, "wb") as output, open(lines) as written:
        tests = subprocess.Popen(
            ["swift", "test", "--skip-build", "--parallel", "--experimental-maximum-parallelization-width", "2", "--filter", filter],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        try:
            while tests.poll() is None:
                time.sleep(1)
                print(written.read(), end="", flush=True)
        finally:
            tests.terminate()
        print(written.read(), end="", flush=True)
    return tests.wait(), lines.read_text().splitlines()


def run(rig: Rig):
    options = rig.options
    environment = {**os.environ, "CARABINER_CORPUS": "all"}
    filter = "WorstPluginTests" if options.worst else "CorpusTests|WorstPluginTests"
    if options.names:
        environment["CARABINER_CORPUS_NAMES"], filter = " ".join(options.names), "CorpusTests/exactlyOneCheckFires"
    swift_build("--build-tests")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    rounds, problems = [], []
    for number in range(1, options.rounds + 1):
        log, begin = OUTPUT / f"corpus-{number}", time.monotonic()
        lines = log.with_suffix(".plugins")
        status, found = run_tests(filter, log, lines, environment | {"CARABINER_CORPUS_LOG": str(lines)})
        if status != 0:
            text = log.read_text(errors="replace")
            shown = re.findall(r"^✘ Test .*(?:\n.*){0,2}", text, re.MULTILINE) or text.splitlines()[-40:]
            print("\n".join(line[:1500] for line in shown), file=sys.stderr)
            problems.append(f"differences in round {number}; the whole output is in {log}")
        counts = {name: sum(mark in line for line in found) for name, mark in (("expected", ": as it should be"), ("other", ": NOT"))}
        rounds.append(counts)
        print(f"round {number} of {options.rounds}: {counts['expected']} plugins as expected, {counts['other']} not, "
              f"{time.monotonic() - begin:.0f} s", flush=True)
    return {"rounds": rounds}, problems
