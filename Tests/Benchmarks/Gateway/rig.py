"""Shared parts of the measurements of carabiner serve: an upstream, processes that end with the run, and wrk."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
CONNECTIONS = 32
# The exit status after SIGTERM.
TERMINATED = 143
# The request of the clients, about 150 bytes.
QUERY = json.dumps(
    {"query": "query Items($first: Int!) { items(first: $first) { id name price inStock tags } }", "operationName": "Items",
     "variables": {"first": 10}}, separators=(",", ":"))


def body(size=1024, count=9):
    """A GraphQL result of this many bytes, in a list of this many objects."""
    items = [
        {"__typename": "Item", "id": str(n), "name": f"Item number {n}", "price": n + 0.5, "inStock": True, "tags": ["a", "b"]}
        for n in range(count)
    ]
    bare = json.dumps({"data": {"items": items}}, separators=(",", ":"))
    items[0]["name"] += "." * (size - len(bare))
    return json.dumps({"data": {"items": items}}, separators=(",", ":"))


def free_ports(count):
    """Free ports. They are reserved only for a moment: if another process takes one first, the caller gets an error."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Rig:
    """A folder, and processes that end with the run in every case."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = []
        # Each program is started with these, for example under a tool that measures it.
        self.prefix = []
        self.environment = {}

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, name, command, core=None, **environment):
        """Starts a process. Its output goes to a file with its name."""
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                pinned(core) + self.prefix + [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **self.environment, **environment})
        self.processes.append(process)
        process.name = name
        return process

    def start_piped(self, name, command, core=None):
        """Starts a helper that reads commands from a pipe and writes lines to another one. No tool measures it."""
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                pinned(core) + [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True, bufsize=1)
        self.processes.append(process)
        process.name = name
        return process

    def log(self, process):
        """The end of what a process has written."""
        return (self.folder / f"{process.name}.log").read_text(errors="replace")[-2000:]

    def wait_until(self, process, is_ready):
        """Waits until a condition holds."""
        for _ in range(1200 if self.prefix else 200):
            if process.poll() is not None:
                break
            if is_ready():
                return
            time.sleep(0.05)
        sys.exit(f"{process.name} did not start:\n{self.log(process)}")

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

    def upstream(self, port, core=None, text=body(), tls=None):
        """A server that answers everything with the same text, and reports which of the stages' headers it received.

        tls is the folder of a certificate, as `certificate` makes it.
        """
        conf = self.folder / "upstream.conf"
        # A word of the configuration has at most 4 KB.
        pieces = [text[start:start + 4000] for start in range(0, len(text), 4000)]
        variables = "".join(f"set $piece{number} '{piece}'; " for number, piece in enumerate(pieces))
        words = "".join(f"${{piece{number}}}" for number in range(len(pieces)))
        secure = "" if not tls else (
            f"ssl_protocols TLSv1.3; ssl_certificate {tls}/certificate.pem; ssl_certificate_key {tls}/key.pem;")
        conf.write_text(f"""
daemon off; worker_processes 1; pid {self.folder}/upstream.pid; error_log {self.folder}/upstream.error;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {self.folder}/upstream.body; keepalive_requests 100000000; client_body_in_single_buffer on;
  server {{
    listen 127.0.0.1:{port} backlog=1024{" ssl" if tls else ""}; {secure}
    location / {{
      {variables}
      default_type application/json; add_header X-Seen "$http_x_stage_1_down$http_x_stage_10_down"; return 200 "{words}";
    }}
  }}
}}
""")
        process = self.start("upstream", ["nginx", "-p", self.folder, "-c", conf, "-e", self.folder / "upstream.error"], core)
        self.wait_until(process, lambda: listens(port))
        return process


def raise_if_terminated(error):
    """Ends the run if an exception is the end by SIGTERM, and not a failure of a part."""
    if isinstance(error, SystemExit) and error.code == TERMINATED:
        raise error


def pinned(core):
    """The beginning of a command that runs on one core."""
    return [] if core is None else ["taskset", "-c", str(core)]


def listens(port):
    """Whether a process accepts connections on a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


def certificate(folder):
    """Makes a certificate for 127.0.0.1 and its key in a folder. It is also the authority to trust."""
    folder.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key.pem", "-out",
         folder / "certificate.pem"], check=True, capture_output=True)
    return folder


def wrk(url, seconds, core=None, timeout=5, connections=CONNECTIONS):
    """Sends requests one after another over all connections. Returns the results."""
    done = subprocess.run(
        pinned(core) + ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", f"--timeout={timeout}s", "-s", str(HERE / "query.lua"), url],
        capture_output=True, text=True, env={**os.environ, "QUERY": QUERY})
    if done.returncode != 0:
        sys.exit(f"wrk failed:\n{done.stdout}{done.stderr}")
    result = json.loads(done.stdout.strip().splitlines()[-1])
    if result["requests"] == 0:
        sys.exit(f"nothing was answered:\n{done.stdout}")
    return result


def answer(url):
    """The head and the body of one response."""
    request = urllib.request.Request(url, data=QUERY.encode(), headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return {name.lower(): value for name, value in response.getheaders()}, response.read().decode()


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
    """The current resident memory of a process."""
    return int(re.search(r"VmRSS:\s*(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])
