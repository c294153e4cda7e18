"""Upstreams that misbehave, while honest clients share the gateway's connections with the affected ones."""

import concurrent.futures
import itertools
import time

from hostile.scene import Broken, Wire, request_bytes
from hostile.upstream import MISBEHAVIOURS

# Behaviours that flood the gateway. Each runs alone, so that its memory use is visible.
FLOODS = [name for name in MISBEHAVIOURS if name in (
    "endless_head", "interim_flood", "endless_body", "bomb", "growing_parts", "endless_part", "part_headers")]
SHORT = [name for name in MISBEHAVIOURS if name not in FLOODS]
# The gateway holds an answer in parts up to its limit of a body (64 MiB) three times: the merged values, and the text of the result before
# and after a part.
ANSWERS = 3
MOST_MEGABYTES = ANSWERS * 3 * 64
TYPES = b"Accept: multipart/mixed;deferSpec=20220824, application/graphql-response+json\r\nX-User: secret-user\r\n"


def ask(scene, behaviour, seconds=10):
    """Requests a misbehaviour and discards the response, which must not belong to another request."""
    with Wire(scene.port, timeout=seconds) as wire:
        wire.send(request_bytes("victim", fields=TYPES + b"Connection: close\r\n", behaviour=behaviour))
        end, kept = time.monotonic() + seconds, b""
        try:
            while time.monotonic() < end:
                piece = wire.receive()
                if not piece:
                    break
                kept = (kept + piece)[-200_000:]
        except OSError:
            pass
    if b"poison" in kept:
        raise Broken(f"{behaviour}: an unsolicited response was forwarded")


def short_misbehaviour(scene, until):
    """Early ends, bad framing, unsolicited responses, redirects: the next request gets its own response."""
    rounds = 0
    for behaviour in itertools.cycle(SHORT):
        if rounds >= len(SHORT) and time.monotonic() > until:
            break
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: ask(scene, behaviour, 5), range(4)))
        # Bytes left on a pooled connection would be read as the responses to these.
        for n in range(8):
            scene.ask(f"after-{behaviour}-{rounds}-{n}")
        rounds += 1
    users = [user for user in scene.seen()["users"] if user.startswith("/elsewhere") and "secret-user" in user]
    if users:
        raise Broken(f"a redirect took the client's X-User to another origin: {users}")
    return f"{4 * rounds} answers"


def floods(scene, until):
    """Endless responses: the gateway must stop reading and release the memory."""
    rounds = 0
    for behaviour in itertools.cycle(FLOODS):
        if rounds >= len(FLOODS) and time.monotonic() > until:
            break
        most = 0
        with concurrent.futures.ThreadPoolExecutor(ANSWERS) as pool:
            asked = [pool.submit(ask, scene, behaviour, 8) for _ in range(ANSWERS)]
            while not all(one.done() for one in asked):
                most = max(most, scene.megabytes() - scene.baseline)
                time.sleep(0.05)
        for one in asked:
            one.result()
        if most > MOST_MEGABYTES:
            raise Broken(f"{ANSWERS} answers of the kind {behaviour} took {most} MB of the gateway")
        rounds += 1
    return f"{ANSWERS * rounds} floods"


def abandoned(scene, until):
    """Clients that disconnect while a flood arrives for them."""
    rounds = 0
    while time.monotonic() < until:
        wires = []
        for behaviour in FLOODS:
            wire = Wire(scene.port)
            wire.send(request_bytes("gone", fields=TYPES, behaviour=behaviour))
            wires.append(wire)
        time.sleep(0.1)
        for wire in wires:
            wire.reset()
        rounds += len(wires)
    return f"{rounds} clients"


ATTACKS = [short_misbehaviour, floods, abandoned]
