"""Counts the user instructions of a request: by the processor's counters where the machine has them, else under callgrind.

Callgrind also counts allocations.
"""

import pathlib
import re
import signal
import subprocess
import time

from machine import Failure, Machine

# The functions of libc that allocate.
ALLOCATORS = {"malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign"}
# The end of the mangled name of an accessor that is a coroutine (`_read` or `_modify`), also as the witness of a protocol.
COROUTINE = re.compile(r"^\$s.*[iv][rM](TW)?$")


def has_counters():
    """Whether perf counts the instructions of a process on this machine."""
    try:
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
    except OSError:
        return False
    return done.returncode == 0 and re.search(r"^\d+,", done.stderr, re.MULTILINE) is not None


class Counters:
    """The processor's counters, attached to a process by perf. They do not count allocations."""

    def __init__(self, process):
        self.process = process

    def during(self, run):
        perf = subprocess.Popen(
            ["perf", "stat", "-x,", "-e", "instructions:u", "-p", str(self.process.pid)], stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        run()
        perf.send_signal(signal.SIGINT)
        return int(re.search(r"^(\d+),", perf.communicate()[1], re.MULTILINE)[1]), None


class Callgrind:
    """The counts of a process under callgrind: set to zero before, and read afterwards."""

    def __init__(self, process, out):
        self.process, self.out, self.dumps = process, out, 0

    def control(self, option):
        subprocess.run(["callgrind_control", option, str(self.process.pid)], check=True, capture_output=True)

    def during(self, run):
        self.control("-z")
        run()
        self.control("-d")
        self.dumps += 1
        dump = pathlib.Path(f"{self.out}.{self.dumps}")
        for _ in range(100):
            text = dump.read_text(errors="replace") if dump.exists() else ""
            if found := re.search(r"^summary: (\d+)", text, re.MULTILINE):
                return int(found[1]), allocations(text)
            time.sleep(0.1)
        raise Failure("callgrind wrote no counts")


def allocations(dump):
    """The number of calls of allocators in a dump of callgrind.

    Calls by accessors that are coroutines do not count: unoptimized code allocates their frame for each element of a loop.
    """
    # A name is written once, with a number that stands for it afterwards: `cfn=(7) malloc`, `cfn=(7)`.
    names = dict(re.findall(r"^c?fn=\((\d+)\) (\S+)", dump, re.MULTILINE))
    calls, caller, called = 0, "", ""
    for kind, number, count in re.findall(r"^(?:(c?fn)=\((\d+)\)|calls=(\d+)).*$", dump, re.MULTILINE):
        if kind == "fn":
            caller = names.get(number, "")
        elif kind == "cfn":
            called = names.get(number, "")
        elif called in ALLOCATORS and not COROUTINE.search(caller):
            calls += int(count)
    return calls


def count(folder, shim, part, program, uses_counters=None):
    """The user instructions and the allocations of a request. Allocations are None if perf has counted.

    These are differences of two runs, divided by the difference of their numbers of requests. So what a run costs besides its
    requests does not count, for example new connections. shim is the library of sigsuspend.c.
    """
    folder = pathlib.Path(folder) / re.sub(r"\W+", "-", program.name)
    folder.mkdir(parents=True)
    uses_counters = has_counters() if uses_counters is None else uses_counters
    out = folder / "callgrind.out"
    with Machine(folder) as machine:
        upstream = part.upstream(machine)
        if not uses_counters:
            machine.prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
            machine.environment = {"LD_PRELOAD": str(shim)}
        session = part.open(machine, program, upstream)
        counter = Counters(session.process) if uses_counters else Callgrind(session.process, out)
        session.send(part.counted)
        few, many = (counter.during(lambda: session.send(times * part.counted)) for times in (1, 3))
        session.close()
        requests = 2 * part.counted
        return {
            "instructions": round((many[0] - few[0]) / requests),
            "allocations": None if many[1] is None else round((many[1] - few[1]) / requests, 1)}
