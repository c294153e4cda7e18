"""Drives carabiner serve at full speed while its manifest is reloaded and its plugin overwritten, and counts lost requests.

usage: storm.py CARABINER FOLDER --builds A B [--seconds N] [--reload-every SECONDS] [--overwrite-every SECONDS] [--json FILE]

FOLDER is empty, and A and B are two builds of the plugin.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import socket
import sys
import threading
import time

import rig

# The memory that an ended generation may leave: its libraries are never unloaded. Measured with 300 generations of a Swift
# plugin.
KB_PER_GENERATION = 22
# The growth that is allowed for any process: allocators keep some pages, and each thread has its own.
KB_KEPT = 2048
# The pause between the two halves of a plugin's file: some reloads find only the first half.
HALFWAY = 0.01

MANIFEST = """carabiner: 1
serve: {return-headers: [x-stamp-*]}
plugins: [{name: stamp, file: stamp.so}]
chain: {http: [stamp, response-code]}
"""


class Admin(http.client.HTTPConnection):
    """The admin socket of a gateway."""

    def __init__(self, path):
        super().__init__("gateway", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, target):
        self.request(method, target)
        response = self.getresponse()
        return response.status, response.read().decode()

    def status(self):
        return json.loads(self.ask("GET", "/status")[1])

    def counts(self):
        """The numbers of responses, of those with the status 200, 500 and 503, and of requests that clients cancelled."""
        text = self.ask("GET", "/metrics")[1]
        answers = {int(status): int(count) for status, count in re.findall(r'requests_total\{status="(\d+)"\} (\d+)', text)}
        cancelled = int(re.search(r"^carabiner_requests_cancelled_total (\d+)", text, re.M)[1])
        return {"answered": sum(answers.values()), "good": answers.get(200, 0), "crashed": answers.get(500, 0),
                "unavailable": answers.get(503, 0), "cancelled": cancelled}

    def settled(self):
        """The status when no operation is running, or after 10 seconds."""
        for _ in range(100):
            status = self.status()
            if not status["operations"]["running"] and not status["operations"]["waiting"] and not status["retired"]:
                break
            time.sleep(0.1)
        return status


class Storm:
    """Reloads and overwrites until it is stopped. `others` are further actions, as (seconds between two of them, function)."""

    def __init__(self, admin_path, plugin, builds, reload_every, overwrite_every, others=()):
        self.over = threading.Event()
        self.admin_path, self.plugin = admin_path, plugin
        self.builds = [pathlib.Path(build).read_bytes() for build in builds]
        self.accepted, self.refused, self.overwritten = 0, [], 0
        self.problems = []
        self.threads = [
            threading.Thread(target=self.every, args=(reload_every, self.reload)),
            threading.Thread(target=self.every, args=(overwrite_every, self.overwrite)),
            *(threading.Thread(target=self.every, args=other) for other in others),
        ]
        self.admin = Admin(admin_path)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def every(self, interval, action):
        next_time = time.monotonic() + interval
        try:
            while not self.over.wait(max(0, next_time - time.monotonic())):
                action()
                # Intervals that were missed are not repeated.
                next_time = max(next_time + interval, time.monotonic())
        except Exception as error:
            self.problems.append(repr(error))

    def reload(self):
        status, text = self.admin.ask("POST", "/reload")
        if status == 200:
            self.accepted += 1
        elif status == 422:
            self.refused += json.loads(text)["problems"]
        else:
            self.problems.append(f"a reload was answered with {status}: {text}")

    def overwrite(self):
        self.overwritten += 1
        build = self.builds[self.overwritten % 2]
        # Overwrites the file in place, as cp does.
        with open(self.plugin, "r+b", buffering=0) as file:
            file.truncate(0)
            file.write(build[: len(build) // 2])
            time.sleep(HALFWAY)
            file.write(build[len(build) // 2 :])


def measured(admin, url, seconds, size):
    """One run of wrk, with the gateway's own counts."""
    before = admin.counts()
    result = rig.wrk(url, seconds)
    status = admin.settled()
    after = admin.counts()
    change = {name: after[name] - before[name] for name in after}
    result["failed"] = result["status"] + result["connect"] + result["read"] + result["write"] + change["answered"] - change["good"]
    # Responses and disconnections that wrk did not count. At its end, wrk cuts off at most one request for each connection.
    unseen = max(0, change["answered"] + change["cancelled"] - result["requests"] - rig.CONNECTIONS)
    result["lost"] = result["timeout"] + unseen + status["operations"]["running"] + status["operations"]["waiting"]
    # All responses have the same length, so an error response changes the sum. The last responses may be cut off.
    result["odd"] = not 0 <= result["bytes"] - result["requests"] * size < rig.CONNECTIONS * size
    return result


def answer_size(port):
    """The size of a response in bytes, including its head."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        question = b'{"query":"{ items { id } }"}'
        connection.sendall(
            b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (len(question), question))
        received = b""
        while b"\r\n\r\n" not in received or len(received) < received.index(b"\r\n\r\n") + 4 + len(rig.body()):
            piece = connection.recv(65536)
            if not piece:
                sys.exit(f"the gateway gave no whole answer: {received[:500]}")
            received += piece
        return len(received)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("carabiner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--builds", nargs=2, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--reload-every", type=float, default=0.2)
    parser.add_argument("--overwrite-every", type=float, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder
    plugin = folder / "stamp.so"
    plugin.write_bytes(pathlib.Path(options.builds[0]).read_bytes())
    os.chmod(plugin, 0o755)
    (folder / "chain.yaml").write_text(MANIFEST)
    upstream_port, port = rig.free_ports(2)
    with rig.Rig(folder) as machine:
        machine.upstream(upstream_port)
        gateway = machine.start(
            "gateway",
            [options.carabiner, "serve", "-m", folder / "chain.yaml", "--listen", f"127.0.0.1:{port}", "--admin",
             f"unix:{folder}/admin.sock", "--endpoint", f"http://127.0.0.1:{upstream_port}/graphql"], CARABINER_LOG="error")
        machine.wait_for(gateway, port, "/graphql")
        url = f"http://127.0.0.1:{port}/graphql"
        head, text = rig.answer(url)
        if text != rig.body() or head.get("x-stamp-up") != "one":
            sys.exit(f"this is not the upstream's answer with the plugin's stamp:\n{head}\n{text}")
        size = answer_size(port)
        admin = Admin(folder / "admin.sock")
        rig.wrk(url, 2)
        calm = measured(admin, url, options.seconds, size)
        before = admin.settled()
        memory = [rig.resident_kb(gateway)]
        with Storm(folder / "admin.sock", plugin, options.builds, options.reload_every, options.overwrite_every) as storm:
            stormy = measured(admin, url, options.seconds, size)
        after = admin.settled()
        memory.append(rig.resident_kb(gateway))
    retired = after["generation"] - before["generation"]
    growth = memory[1] - memory[0]
    bound = KB_KEPT + KB_PER_GENERATION * retired
    rows = [("", "without reloads", "with reloads")]
    for label, name, form in [
        ("requests", "requests", "{}"), ("requests a second", "rate", "{:.0f}"), ("failed", "failed", "{}"), ("lost", "lost", "{}"),
        ("p50, ms", "p50", "{:.2f}"), ("p99, ms", "p99", "{:.2f}"), ("longest, ms", "most", "{:.1f}"),
    ]:
        for run in (calm, stormy):
            run["rate"] = run["requests"] / run["seconds"]
        rows.append((label, form.format(calm[name]), form.format(stormy[name])))
    rows += [
        ("reloads accepted", "", str(storm.accepted)), ("reloads refused", "", str(after["reloads"]["refused"])),
        ("plugin overwritten", "", str(storm.overwritten)), ("generations retired", "", str(retired)),
        ("resident, kB", str(memory[0]), str(memory[1])),
    ]
    for label, left, right in rows:
        print(f"{label:<20}{left:>18}{right:>18}")
    print(f"memory grew by {growth} kB; {bound} kB are allowed: {KB_PER_GENERATION} for each generation retired, and {KB_KEPT} once")
    for reason in sorted(set(storm.refused)):
        print(f"refused: {storm.refused.count(reason)} times: {reason.replace(str(folder), '…')}")
    problems = list(storm.problems)
    for name, run in (("without reloads", calm), ("with reloads", stormy)):
        if run["failed"] or run["lost"]:
            problems.append(f"{name}: {run['failed']} requests failed and {run['lost']} were lost")
        if run["odd"]:
            problems.append(f"{name}: {run['bytes']} bytes in {run['requests']} answers of {size} bytes: some were others")
    if growth > bound:
        problems.append(f"the memory grew by {growth} kB")
    if not storm.accepted or retired < storm.accepted:
        problems.append(f"{storm.accepted} reloads were accepted, and {retired} generations retired")
    if gateway.returncode != 0:
        problems.append(f"the gateway ended with the status {gateway.returncode}")
    if options.json:
        options.json.write_text(json.dumps(
            {"seconds": options.seconds, "reload_every": options.reload_every, "overwrite_every": options.overwrite_every,
             "without_reloads": calm, "with_reloads": stormy, "accepted": storm.accepted,
             "refused": after["reloads"]["refused"], "overwritten": storm.overwritten, "retired": retired,
             "resident_kb": memory, "allowed_growth_kb": bound, "problems": problems}, indent=2) + "\n")
    if problems:
        log = (folder / "gateway.log").read_text()
        sys.exit("\n".join(problems) + (f"\nthe last of the gateway's log:\n{log[-2000:]}" if log else ""))


if __name__ == "__main__":
    main()
