"""carabiner serve, and its admin socket."""

import contextlib
import http.client
import json
import re
import socket
import time

import traffic
from machine import Failure


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
        # Over a new connection: the gateway closes an idle one.
        with contextlib.closing(self):
            self.request(method, target)
            response = self.getresponse()
            return response.status, response.read().decode()

    def status(self):
        return json.loads(self.ask("GET", "/status")[1])

    def metric(self, name):
        """The value of a metric; None if there is none with this name and these labels."""
        text = self.ask("GET", "/metrics")[1]
        return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name)), None)

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


class Gateway:
    """carabiner serve at a free port."""

    def __init__(self, machine, executable, manifest, *options, name="gateway", **environment):
        self.socket = machine.folder / f"{name}.sock"
        self.process = machine.start(
            name, [executable, "serve", "-m", manifest, "--listen", "127.0.0.1:0", "--admin", f"unix:{self.socket}", *options],
            **environment)
        machine.gateways.append(self.process)
        self.port = machine.listening(self.process)
        self.url, self.admin = f"http://127.0.0.1:{self.port}/graphql", Admin(self.socket)

    def expect_stamp(self):
        """Checks that a response of the upstream passes the plugin."""
        head, text = traffic.answer(self.url)
        if text != traffic.body() or head.get("x-stamp-up") != "one":
            raise Failure(f"this is not the upstream's answer with the plugin's stamp:\n{head}\n{text}")

    def measured(self, seconds, client=None):
        """One run of wrk, with the gateway's own counts. A client beside it counts its own responses, and plugins may crash then."""
        # The requests that an earlier run cut off have ended.
        self.admin.settled()
        before = self.admin.counts()
        with client or contextlib.nullcontext():
            result = traffic.wrk(self.url, seconds)
        status = self.admin.settled()
        after = self.admin.counts()
        change = {name: after[name] - before[name] for name in after}
        result["rate"] = result["requests"] / result["seconds"]
        result["crashed"], result["unavailable"] = change["crashed"], change["unavailable"]
        result["failed"] = result["connect"] + result["read"] + result["write"] + change["answered"] - change["good"]
        result["failed"] += -change["crashed"] if client else result["status"]
        checked = sum(client.answers.values()) if client else 0
        # Responses and disconnections that the clients did not count. At its end, wrk cuts off at most one request for each connection.
        unseen = max(0, change["answered"] + change["cancelled"] - result["requests"] - checked - traffic.CONNECTIONS)
        result["lost"] = result["timeout"] + unseen + status["operations"]["running"] + status["operations"]["waiting"]
        return result
