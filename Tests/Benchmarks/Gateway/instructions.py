"""Counts the user instructions of a request: by the processor's counters where the machine has them, else under callgrind."""

import pathlib
import re
import signal
import subprocess
import time

import rig


def has_counters():
    """Whether perf counts the instructions of a process on this machine."""
    try:
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
    except OSError:
        return False
    return done.returncode == 0 and re.search(r"^\d+,", done.stderr, re.MULTILINE) is not None


class Counters:
    """The processor's counters, attached to a process by perf."""

    def __init__(self, process):
        self.process = process

    def during(self, run):
        perf = subprocess.Popen(
            ["perf", "stat", "-x,", "-e", "instructions:u", "-p", str(self.process.pid)], stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        run()
        perf.send_signal(signal.SIGINT)
        return int(re.search(r"^(\d+),", perf.communicate()[1], re.MULTILINE)[1])


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
            if dump.exists() and (found := re.search(r"^summary: (\d+)", dump.read_text(errors="replace"), re.MULTILINE)):
                return int(found[1])
            time.sleep(0.1)
        raise RuntimeError("callgrind wrote no counts")


def count(folder, shim, part, program, uses_counters=None):
    """The user instructions of a request: the difference of two runs by the difference of their numbers of requests.

    So what a run costs besides its requests does not count, for example new connections. shim is the library of sigsuspend.c.
    """
    folder = pathlib.Path(folder) / re.sub(r"\W+", "-", program.name)
    folder.mkdir()
    uses_counters = has_counters() if uses_counters is None else uses_counters
    out = folder / "callgrind.out"
    with rig.Rig(folder) as machine:
        upstream = part.upstream(machine)
        if not uses_counters:
            machine.prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
            machine.environment = {"LD_PRELOAD": str(shim)}
        session = part.open(machine, program, upstream)
        counter = Counters(session.process) if uses_counters else Callgrind(session.process, out)
        session.send(part.counted)
        few, many = (counter.during(lambda: session.send(times * part.counted)) for times in (1, 3))
        session.close()
        return round((many - few) / (2 * part.counted))
