"""Clients over HTTP/1.1 that send malformed requests or never finish them."""

import json
import random
import time
import zlib

from hostile.scene import Broken, QUERY, Wire, request_bytes

HIDDEN = request_bytes("hidden", "query Smuggled { tag }")
HEAD = b"POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
BODY = json.dumps({"query": QUERY, "variables": {"tag": "seen"}}).encode()

# Requests with an ambiguous end. The request hidden behind it must never run.
SMUGGLING = [
    HEAD + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (len(HIDDEN) + 5),
    HEAD + b"Content-Length: 5\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY,
    HEAD + b"Content-Length: %d, 5\r\n\r\n" % len(BODY) + BODY,
    HEAD + b"Content-Length: +%d\r\n\r\n" % len(BODY) + BODY,
    HEAD + b"Content-Length: 0x20\r\n\r\n" + BODY,
    HEAD + b"Content-Length: 18446744073709551615\r\n\r\n" + BODY,
    HEAD + b"Content-Length : %d\r\n\r\n" % len(BODY) + BODY,
    HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding\x0b: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding:\tchunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    HEAD + b" Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"X: a\x00Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\n{\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;\x00\r\n{\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}0\r\n\r\n",
    b"POST /graphql HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 0\r\n\r\n",
    b"POST /graphql HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    b"POST /graphql\r\n\r\n",
    b"GET /graphql HTTP/9.9\r\nHost: gateway\r\n\r\n",
]


def smuggling(scene, until):
    """A request with an ambiguous end hides another one, which must not run."""
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        for shape in SMUGGLING:
            for hidden in (HIDDEN, b"0\r\n\r\n" + HIDDEN):
                with Wire(scene.port) as wire:
                    wire.send(shape + hidden)
                    wire.rest(0.5)
            rounds += 1
            if "Smuggled" in scene.seen()["operations"]:
                raise Broken(f"the operation behind {shape!r} ran")
    return f"{2 * rounds} requests"


def unread_answers(scene, until):
    """Pipelined requests by a client that reads no responses: the gateway must stop reading instead of buffering."""
    block = request_bytes("unread", size=20_000) * 200
    sent = 0
    wires = [Wire(scene.port) for _ in range(4)]
    while time.monotonic() < until:
        taken = sum(wire.send_unread(block, 0.5) for wire in wires)
        sent += taken
        if taken == 0:
            break
    for wire in wires:
        wire.reset()
    return f"{sent >> 10} KiB were taken"


def bad_byte_behind(scene, until):
    """A complete request is answered, whatever bytes follow it."""
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        for garbage in (b"\x00", b"\xff\xfe\r\n\r\n", b"POST /graphql HTTP/1.1\r\nHost :x\r\n\r\n", b"\x16\x03\x01\x02\x00"):
            with Wire(scene.port) as wire:
                tag = f"whole-{rounds}"
                wire.send(request_bytes(tag, delay=0.02) + garbage)
                try:
                    status, body = wire.response()
                except EOFError:
                    raise Broken(f"{garbage!r} behind a whole request took its answer: the connection was closed") from None
                if status != 200 or tag.encode() not in body:
                    raise Broken(f"{garbage!r} behind a whole request took its answer: {status} {body[:200]}")
                wire.rest(0.5)
            rounds += 1
    return f"{rounds} connections"


def resets(scene, until):
    """Connections that are reset at any moment of an exchange."""
    rounds, question = 0, request_bytes("reset", delay=0.05, size=100_000)
    chance = random.Random(7)
    while time.monotonic() < until:
        wires = [Wire(scene.port) for _ in range(20)]
        for wire in wires:
            wire.send(question[: chance.randrange(1, 2 * len(question))])
        time.sleep(chance.random() / 10)
        for wire in wires:
            wire.reset()
        rounds += len(wires)
    return f"{rounds} connections"


def slow_bytes(scene, until):
    """Many connections that send single bytes slowly."""
    text = request_bytes("slow")
    wires = [Wire(scene.port) for _ in range(200)]
    position = 0
    while time.monotonic() < until:
        for wire in wires:
            wire.send(text[position % len(text) :][:1])
        position += 1
        time.sleep(0.05)
    for wire in wires:
        wire.reset()
    return f"{len(wires)} connections"


def large_heads(scene, until):
    """Heads and bodies above their limits, in size and in number."""
    shapes = [
        HEAD + b"X-Large: " + b"a" * (1 << 20),
        HEAD + b"".join(b"X-%d: b\r\n" % n for n in range(100_000)),
        b"POST /" + b"a" * (1 << 20),
        HEAD + b"Content-Length: 9223372036854775807\r\n\r\n" + b"a" * (1 << 16),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"a" * 65536 + b"\r\n" * 1,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"e" * (1 << 20),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n{\r\n" * 100_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Trailer: c\r\n" * 100_000,
    ]
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        for shape in shapes:
            with Wire(scene.port) as wire:
                wire.send_unread(shape, 5)
                # A backlog of closed connections would only measure the speed of this machine.
                wire.rest(2)
            rounds += 1
    return f"{rounds} connections"


def packed_bodies(scene, until):
    """A body that is small on the wire and 256 MiB when decompressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = packer.compress(b'{"query":"') + b"".join(packer.compress(b" " * (1 << 20)) for _ in range(256)) + packer.flush()
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        with Wire(scene.port) as wire:
            wire.send(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed)
            status, body = wire.response()
            if status not in (400, 413, 415):
                raise Broken(f"a packed body of 256 MiB was answered with {status}: {body[:200]}")
        rounds += 1
    return f"{rounds} bodies of {len(packed) >> 10} KiB"


def odd_operations(scene, until):
    """Documents and bodies that are deep, wide, cyclic, or not text."""
    texts = [
        "{" + "a{" * 100_000,
        "query " + "(" * 100_000,
        "{" + " ".join(f"a{n}: tag" for n in range(50_000)) + "}",
        "{...A} fragment A on Q {...B} fragment B on Q {...A}",
        "{...F0} " + " ".join(f"fragment F{n} on Q {{...F{n + 1} ...F{n + 1}}}" for n in range(60)) + " fragment F60 on Q {tag}",
        "query(" + " ".join(f"$v{n}: Int" for n in range(20_000)) + "){tag}",
        '{tag(a: "' + "\\u0000" * 50_000 + '")}',
        "\ufeff{tag}",
    ]
    bodies = [json.dumps({"query": text}).encode() for text in texts] + [
        b"[" * 500_000, b'{"query":"{tag}","variables":' + b'{"a":' * 100_000, b'{"query":"\xff"}', b'{"query":"\\ud800"}', b"", b"null",
        b'{"query":"{tag}","query":"mutation Smuggled {tag}"', b'{"query":1e999999}',
    ]
    rounds, longest = 0, 0.0
    while rounds == 0 or time.monotonic() < until:
        for body in bodies:
            begin = time.monotonic()
            with Wire(scene.port) as wire:
                wire.send(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                try:
                    wire.response()
                except EOFError:
                    pass
            longest = max(longest, time.monotonic() - begin)
            rounds += 1
    return f"{rounds} bodies, {longest:.1f} s at most"


def many_names(scene, until):
    """An endless series of new operation names: they must neither fill memory nor slow down other clients."""
    count = 0
    with Wire(scene.port) as wire:
        while time.monotonic() < until:
            names = range(count, count + 50)
            wire.send(b"".join(request_bytes(f"n{n}", f"query Name{n}($tag: String) {{ tag }}") for n in names))
            for n in names:
                status, body = wire.response()
                if status != 200 or f'"n{n}"'.encode() not in body:
                    raise Broken(f"operation {n} was answered with {status}: {body[:200]}")
            count += 50
    return f"{count} names"


def tiny_chunks(scene, until):
    """A body in chunks of one byte must not delay other clients."""
    rounds, longest = 0, 0.0
    while rounds == 0 or time.monotonic() < until:
        begin = time.monotonic()
        with Wire(scene.port) as wire:
            wire.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 200_000)
            scene.ask(f"beside-chunks-{rounds}")
            wire.send(b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n")
            status, _ = wire.response()
        if status != 200:
            raise Broken(f"a body in small chunks was answered with {status}")
        longest = max(longest, time.monotonic() - begin)
        rounds += 1
    if longest > 15:
        raise Broken(f"a body of 200,000 chunks took {longest:.1f} s")
    return f"{rounds} bodies, {longest * 1000:.0f} ms at most"


ATTACKS = [
    smuggling, bad_byte_behind, unread_answers, resets, slow_bytes, large_heads, packed_bodies, odd_operations, many_names, tiny_chunks]
