"""Clients over HTTP/2 (with prior knowledge) that consume memory, flood, and break the protocol."""

import json
import struct
import time

from hostile.scene import Broken, QUERY, Wire

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def field(name, value):
    """An uncompressed field (RFC 7541, 6.2.2). Lengths below 127 take one byte."""
    def text(part):
        return bytes([len(part)]) + part if len(part) < 127 else bytes([127]) + varint(len(part) - 127) + part
    return b"\0" + text(name) + text(value)


def varint(number):
    out = b""
    while number >= 128:
        out += bytes([number % 128 + 128])
        number //= 128
    return out + bytes([number])


def post_fields(*more):
    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"gateway"), (b":path", b"/graphql"),
              (b"content-type", b"application/json"), *more]
    return b"".join(field(name, value) for name, value in fields)


def post(stream, tag, **variables):
    body = json.dumps({"query": QUERY, "variables": {"tag": tag, **variables}}).encode()
    return (frame(HEADERS, END_HEADERS, stream, post_fields(*variables.pop("fields", ())))
            + frame(DATA, END_STREAM, stream, body))


def opened(scene, window=65535):
    wire = Wire(scene.port)
    wire.send(PREFACE + frame(SETTINGS, payload=struct.pack(">HI", 4, window)))
    return wire


def still_speaks(scene):
    """A request over a new connection is answered."""
    with opened(scene) as wire:
        wire.send(post(1, "honest-http2"))
        received = b""
        while b"honest-http2" not in received:
            piece = wire.receive()
            if not piece:
                raise Broken("a new HTTP/2 connection got no answer")
            received += piece


def no_window(scene, until):
    """Responses without a flow-control window: the gateway must limit the memory and time it spends on them."""
    wires, asked = [], 0
    while time.monotonic() < until and len(wires) < 20:
        wire = opened(scene, window=0)
        if not wire.send(b"".join(post(1 + 2 * n, "hoard", size=500_000) for n in range(50))):
            break
        wires.append(wire)
        asked += 50
        time.sleep(0.2)
    time.sleep(1)
    held = scene.megabytes() - scene.baseline
    for wire in wires:
        wire.reset()
    # 64 MiB may be unsent. The rest is responses that the gateway reads from the upstream at that moment.
    if held > 192:
        raise Broken(f"{len(wires)} connections without a window held {held} MB of the gateway")
    return f"{asked} answers of 500 kB asked for, {held} MB held"


def taken_back(scene, until):
    """Streams that are opened and reset at once."""
    streams = 0
    while time.monotonic() < until:
        with opened(scene) as wire:
            number = 1
            while wire.send(b"".join(post(n, "reset") + frame(RST_STREAM, 0, n, struct.pack(">I", 8))
                                     for n in range(number, number + 200, 2))):
                number += 200
                streams += 100
                if time.monotonic() > until or number > 20_000:
                    break
    return f"{streams} streams"


def floods(scene, until):
    """An endless series of frames that require a response each, or are empty."""
    ping, settings = frame(PING, payload=b"12345678"), frame(SETTINGS, payload=struct.pack(">HI", 4, 65535))
    empty = frame(HEADERS, END_HEADERS, 1, post_fields()) + frame(DATA, 0, 1) * 2000
    endless = frame(HEADERS, 0, 1, post_fields()) + b"".join(
        frame(CONTINUATION, 0, 1, field(b"x-filler", b"a" * 100) * 100) for _ in range(200))
    sent = 0
    while time.monotonic() < until:
        for piece in (ping * 5000, settings * 3000, empty, endless, frame(PRIORITY, 0, 3, b"\0\0\0\1\x10") * 5000,
                      frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) * 5000):
            with opened(scene) as wire:
                sent += wire.send_unread(piece * 20, 1)
    return f"{sent >> 20} MiB"


def idle_frames(scene, until):
    """A flood of frames that ask for nothing ends its connection."""
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        for piece in (frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)), frame(GOAWAY, payload=bytes(8)), frame(200, 255, 1, b"unknown"),
                      frame(16, payload=bytes(4) + b"u=1")):
            with opened(scene) as wire:
                wire.send(piece * 3000)
                if frame(GOAWAY, payload=bytes(4) + struct.pack(">I", 11)) not in wire.rest(10):
                    raise Broken(f"3,000 frames of the type {piece[3]} did not end the connection with ENHANCE_YOUR_CALM")
            rounds += 1
    return f"{rounds} floods"


def bomb(scene, until):
    """One field in the dynamic table that is referenced repeatedly: small on the wire, large when decompressed."""
    large = b"\x40" + bytes([6]) + b"x-bomb" + bytes([127]) + varint(3800 - 127) + b"b" * 3800
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        with opened(scene) as wire:
            wire.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, post_fields() + large))
            for stream in range(3, 60, 2):
                if not wire.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, post_fields() + b"\xbe" * 15_000)):
                    break
                rounds += 1
    return f"{rounds} heads"


# Each breaks a rule of RFC 9113. The connection may end, but the gateway must not.
BROKEN = [
    frame(DATA, END_STREAM, 1, b"x"),
    frame(HEADERS, END_HEADERS, 2, post_fields()),
    frame(HEADERS, END_HEADERS, 0, post_fields()),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, field(b":method", b"POST")),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, post_fields((b"Upper", b"x"))),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, post_fields((b"connection", b"close"))),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, post_fields((b"te", b"gzip"))),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, post_fields((b"x", b"a\r\nb: c"))),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, post_fields((b"host", b"other"))),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, post_fields((b":path", b"/again"))),
    frame(HEADERS, END_HEADERS, 1, post_fields((b"content-length", b"5"))) + frame(DATA, END_STREAM, 1, b"12345678"),
    frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff\xff"),
    frame(SETTINGS, payload=b"12345"),
    frame(SETTINGS, payload=struct.pack(">HI", 4, 0xFFFFFFFF)),
    frame(SETTINGS, 0, 1),
    frame(PING, payload=b"123"),
    frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0)),
    frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFFFFFF)) * 2,
    frame(RST_STREAM, 0, 1, struct.pack(">I", 8)),
    frame(PUSH_PROMISE, END_HEADERS, 1, struct.pack(">I", 2)),
    frame(CONTINUATION, END_HEADERS, 1),
    frame(GOAWAY, payload=b"1"),
    frame(200, 255, 1, b"unknown"),
    b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
]


def broken_frames(scene, until):
    """Every kind of malformed frame, after the start of a stream."""
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        for piece in BROKEN:
            with opened(scene) as wire:
                wire.send(post(1, "under-way", delay=0.01) if piece[8] != 1 else b"")
                wire.send(piece)
                wire.rest(0.05)
            rounds += 1
        still_speaks(scene)
    return f"{rounds} connections"


ATTACKS = [no_window, taken_back, floods, idle_frames, bomb, broken_frames]
