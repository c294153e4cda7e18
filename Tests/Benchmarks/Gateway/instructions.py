"""Counts the user instructions of a request: by the processor's counters where the machine has them, else under callgrind."""

import asyncio
import pathlib
import re
import signal
import subprocess
import time

import rig

# The requests that are counted, after as many others, over all connections of the rig. New connections would add their own cost.
REQUESTS = 60 * rig.CONNECTIONS


def has_counters():
    """Whether perf counts the instructions of a process on this machine."""
    try:
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
    except OSError:
        return False
    return done.returncode == 0 and re.search(r"^\d+,", done.stderr, re.MULTILINE) is not None


class Clients:
    """Connections that stay open, and send a given number of requests, each after the response to the one before."""

    def __init__(self, port):
        body = rig.QUERY.encode()
        self.port = port
        self.request = (f"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        self.streams = []

    async def open(self):
        self.streams = [await asyncio.open_connection("127.0.0.1", self.port) for _ in range(rig.CONNECTIONS)]

    def close(self):
        for _, writer in self.streams:
            writer.close()

    async def send(self, count):
        await asyncio.gather(*[self.exchange(reader, writer, count // len(self.streams)) for reader, writer in self.streams])

    async def exchange(self, reader, writer, count):
        for _ in range(count):
            writer.write(self.request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            if b" 200 " not in head.partition(b"\r\n")[0] or length is None:
                raise RuntimeError(f"a response has another head:\n{head.decode(errors='replace')}")
            await reader.readexactly(int(length[1]))


def by_counters(process, run):
    """Attaches perf to a process while requests are sent."""
    perf = subprocess.Popen(
        ["perf", "stat", "-x,", "-e", "instructions:u", "-p", str(process.pid)], stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    run()
    perf.send_signal(signal.SIGINT)
    return int(re.search(r"^(\d+),", perf.communicate()[1], re.MULTILINE)[1])


def by_callgrind(process, out, run):
    """Sets the counts of a process under callgrind to zero, and reads them after the requests."""
    def control(option):
        subprocess.run(["callgrind_control", option, str(process.pid)], check=True, capture_output=True)

    control("-z")
    run()
    control("-d")
    dump = pathlib.Path(f"{out}.1")
    for _ in range(100):
        if dump.exists() and (found := re.search(r"^summary: (\d+)", dump.read_text(errors="replace"), re.MULTILINE)):
            return int(found[1])
        time.sleep(0.1)
    raise RuntimeError("callgrind wrote no counts")


def count(folder, shim, name, start):
    """The user instructions of a request.

    shim is the library of sigsuspend.c, and start(machine, name, port, upstream) starts a program in a rig.
    """
    folder = pathlib.Path(folder) / re.sub(r"\W+", "-", name)
    folder.mkdir()
    upstream, port = rig.free_ports(2)
    counted = has_counters()
    out = folder / "callgrind.out"
    with rig.Rig(folder) as machine:
        machine.upstream(upstream)
        if not counted:
            machine.prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
            machine.environment = {"LD_PRELOAD": str(shim)}
        process = start(machine, name, port, upstream)
        machine.wait_for(process, port, "/graphql")

        async def session():
            clients = Clients(port)
            await clients.open()
            await clients.send(REQUESTS)

            def run():
                asyncio.run_coroutine_threadsafe(clients.send(REQUESTS), loop).result(600)

            loop = asyncio.get_running_loop()
            total = await asyncio.to_thread(by_counters, process, run) if counted else await asyncio.to_thread(
                by_callgrind, process, out, run)
            clients.close()
            return total

        return round(asyncio.run(session()) / REQUESTS)
