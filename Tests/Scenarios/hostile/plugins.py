"""Plugins that attack the host from inside its process, without crashing themselves.

Each attack has a gateway of its own, because a plugin's harm stays with its process.
"""

import concurrent.futures
import http.client
import json
import resource
import time

from hostile.scene import Broken, QUERY, Wire, request_bytes

# A second plugin has the grant that the first one tries to use.
MANIFEST = """carabiner: 1
serve: {forward-headers: [x-user]}
plugins:
  - {name: rightful, file: ../hostile.so, grants: [fetch], config: {mode: none}}
  - {name: hostile, file: ../hostile.so, GRANTS timeout: 100ms, on-fault: skip, config: {mode: MODE, target: "http://UPSTREAM/fetched"}}
chain: {http: [rightful, hostile, response-code]}
"""


def manifest(mode, grants=""):
    return MANIFEST.replace("MODE", mode).replace("GRANTS", grants)


def answer(scene, tag, size=0, timeout=20):
    """The status and the text of the gateway's response to one request."""
    connection = http.client.HTTPConnection("127.0.0.1", scene.port, timeout=timeout)
    try:
        body = json.dumps({"query": QUERY, "variables": {"tag": tag, "filler": "f" * size}})
        connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    finally:
        connection.close()


def pend_and_read(scene, until):
    """A hook reads its body long after its timeout, and after the client has disconnected."""
    rounds = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        while rounds == 0 or time.monotonic() < until:
            asked = [pool.submit(answer, scene, f"late-{rounds}-{n}", 900_000) for n in range(4)]
            wires = [Wire(scene.port) for _ in range(4)]
            for wire in wires:
                wire.send(request_bytes("gone", filler="g" * 900_000))
            time.sleep(0.3)
            for wire in wires:
                wire.reset()
            for n, one in enumerate(asked):
                status, text = one.result()
                if status != 200 or f"late-{rounds}-{n}" not in text:
                    raise Broken(f"a request whose plugin is skipped was answered with {status}: {text[:300]}")
            rounds += 1
            scene.expect_alive()
    return f"{8 * rounds} requests"


def hoard(scene, until):
    """An endless number of buffers, with a limit of 3 GiB of additional address space."""
    used = int(open(f"/proc/{scene.gateway.pid}/statm").read().split()[0]) * resource.getpagesize()
    resource.prlimit(scene.gateway.pid, resource.RLIMIT_AS, (used + (3 << 30), resource.RLIM_INFINITY))
    for n in range(3):
        status, text = answer(scene, f"hoard-{n}", timeout=60)
        scene.expect_alive()
        if status not in (418, 500):
            raise Broken(f"a plugin that asked for 100 GB was answered so that {status}: {text[:300]}")
    held = scene.megabytes() - scene.baseline
    if "without a limit" in scene.gateway_log():
        raise Broken("100 GB were given to a plugin")
    return f"{held} MB held"


def steal(scene, until):
    """Using the service of another plugin by guessing its id."""
    status, text = answer(scene, "steal", timeout=120)
    log = scene.gateway_log()
    found = "stolen 0" in text + log
    if not found:
        raise Broken(f"services of another plugin were given: {status} {text[:300]} {log[-500:]}")
    return "280,000 guesses"


def forge_handles(scene, until):
    """Handles that were never issued, from four threads at once."""
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        status, text = answer(scene, f"forge-{rounds}", timeout=120)
        if status != 200 or f"forge-{rounds}" not in text:
            raise Broken(f"forged handles harmed a call: {status} {text[:300]}")
        rounds += 1
    return f"{rounds * 80_000} forged handles"


def arm_and_cancel(scene, until):
    """Timers that are armed for an hour and cancelled at once must not leave memory behind."""
    rounds = 0
    while rounds < 10 or time.monotonic() < until:
        answer(scene, "timer", timeout=60)
        rounds += 1
    held = scene.megabytes() - scene.baseline
    if held > 48:
        raise Broken(f"{rounds * 20_000} cancelled timers held {held} MB")
    return f"{rounds * 20_000} timers, {held} MB held"


def split_request(scene, until):
    """A method that contains a second request must not reach a shared connection."""
    rounds = 0
    while rounds < 14 or time.monotonic() < until:
        status, text = answer(scene, f"split-{rounds}")
        if status == 200 and f"split-{rounds}" not in text:
            raise Broken(f"a client got another one's answer: {text[:300]}")
        rounds += 1
    if any("smuggled" in path for path in scene.seen()["paths"]):
        raise Broken("a request hidden in a method reached the upstream")
    return f"{rounds} requests"


def odd_statuses(scene, until):
    """Statuses without a body and invalid statuses: the client's connection must stay in sync."""
    rounds = 0
    while rounds < 10 or time.monotonic() < until:
        with Wire(scene.port, timeout=10) as wire:
            # Sent one after another over one connection: an unexpected body would be read as the next response.
            for n in range(5):
                if not wire.send(request_bytes(f"odd-{n}")):
                    break
                try:
                    status, body = wire.response()
                    if status not in (204, 304) and 200 <= status < 300 and body and f"odd-{n}".encode() not in body:
                        raise Broken(f"an answer of the status {status} was another one's: {body[:200]}")
                    if status < 200:
                        raise Broken(f"the gateway answered with the status {status} and nothing more")
                except (EOFError, ValueError, IndexError) as error:
                    if wire.buffer:
                        raise Broken(f"an answer was out of step: {wire.buffer[:200]}") from error
                    break
        rounds += 1
    return f"{5 * rounds} answers"


def pend_for_ever(scene, until):
    """Hooks that never resume must not hold their requests or much memory."""
    rounds = 0
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        while rounds == 0 or time.monotonic() < until:
            for status, text in pool.map(lambda n: answer(scene, f"pend-{n}"), range(16)):
                if status != 200:
                    raise Broken(f"a request whose plugin is skipped was answered with {status}: {text[:300]}")
            rounds += 1
    return f"{16 * rounds} hooks"


# Each attack with its mode, its grants, and its limit in megabytes: memory of abandoned calls is kept for a minute on purpose.
ATTACKS = {
    pend_and_read: ("pend-and-read", "", 600), hoard: ("hoard", "", 600), steal: ("steal", "", 96),
    forge_handles: ("forge-handles", "", 96), arm_and_cancel: ("arm-and-cancel", "", 96),
    split_request: ("split-request", "grants: [fetch],", 96), odd_statuses: ("refuse-oddly", "", 96), pend_for_ever: ("pend-for-ever", "", 96),
}
