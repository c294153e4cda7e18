"""The processes of a scenario or a measurement, which end with it, and what the kernel reports about them."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """The reason why a scenario or a measurement cannot go on."""


class Machine:
    """A folder, and processes that end with it in every case."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        # All processes, and those of them that must end with the status 0.
        self.processes, self.gateways = [], []
        # Each program is started with these, for example under a tool that measures it.
        self.prefix = []
        self.environment = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Ends all processes."""
        for process in self.processes:
            # A stopped process does not end.
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, name, command, core=None, **environment):
        """Starts a process. Its output goes to a file with its name."""
        return self.open(name, self.prefix + command, core, self.environment | environment, stdin=subprocess.DEVNULL)

    def start_piped(self, name, command, core=None):
        """Starts a helper that reads commands from a pipe and writes lines to another one. No tool measures it."""
        return self.open(
            name, command, core, {}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def open(self, name, command, core, environment, **pipes):
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                [str(word) for word in pinned(core) + command], env={**os.environ, **environment},
                **({"stdout": log, "stderr": log} | pipes))
        process.name = name
        self.processes.append(process)
        return process

    def log(self, process):
        """The end of what a process has written."""
        return (self.folder / f"{process.name}.log").read_text(errors="replace")[-2000:]

    def wait_until(self, process, is_ready):
        """Waits until a condition holds. Returns its value."""
        for _ in range(1200 if self.prefix else 200):
            if process.poll() is not None:
                break
            if found := is_ready():
                return found
            time.sleep(0.05)
        raise Failure(f"{process.name} did not start:\n{self.log(process)}")

    def wait_for(self, process, port, path="/"):
        """Waits until a process responds."""
        def responds():
            try:
                urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=b"{}"), timeout=2).close()
            except urllib.error.HTTPError:
                return True
            except OSError:
                return False
            return True

        self.wait_until(process, responds)

    def listening(self, process):
        """Waits until a process writes on which port it listens."""
        return int(self.wait_until(process, lambda: re.search(r"^listening .*?(\d+)/?$", self.log(process), re.MULTILINE))[1])


def pinned(core):
    """The beginning of a command that runs on one core."""
    return [] if core is None else ["taskset", "-c", str(core)]


def free_ports(count):
    """Free ports. They are reserved only for a moment: if another process takes one first, the caller gets an error."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def listens(port):
    """Whether a process accepts connections on a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


def cpu_seconds(process):
    """The processor time that a process and all below it have used so far, in user and system mode."""
    ticks = 0
    for pid in [process.pid] + descendants(process.pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS


def descendants(pid):
    """The numbers of all processes below one, for example of the workers of a gateway."""
    found, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        try:
            children = [int(child) for task in os.listdir(f"/proc/{parent}/task")
                        for child in pathlib.Path(f"/proc/{parent}/task/{task}/children").read_text().split()]
        except OSError:
            continue
        found += children
        waiting += children
    return found


def resident_kb(process):
    """The current resident memory of a process; None if it has ended."""
    try:
        found = re.search(r"VmRSS:\s*(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())
    except OSError:
        return None
    return int(found[1]) if found else None
