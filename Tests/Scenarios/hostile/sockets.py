"""Clients over WebSockets that forge, flood and break the rules of graphql-transport-ws."""

import json
import os
import struct
import time

from hostile.scene import Broken, Wire

HANDSHAKE = (b"GET /graphql HTTP/1.1\r\nHost: gateway\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n%s\r\n")


def frame(opcode, payload, final=True, masked=True):
    first = opcode | (0x80 if final else 0)
    bit = 0x80 if masked else 0
    size = len(payload)
    if size < 126:
        head = bytes([first, bit | size])
    elif size < 65536:
        head = bytes([first, bit | 126]) + struct.pack(">H", size)
    else:
        head = bytes([first, bit | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + payload
    # A mask of zeros leaves the payload as it is.
    return head + b"\0\0\0\0" + payload


def text(value):
    return frame(1, value if isinstance(value, bytes) else json.dumps(value).encode())


def opened(scene, fields=b""):
    wire = Wire(scene.port)
    wire.send(HANDSHAKE % fields)
    while b"\r\n\r\n" not in wire.buffer:
        wire.more()
    head, _, wire.buffer = wire.buffer.partition(b"\r\n\r\n")
    if b" 101 " not in head:
        raise Broken(f"the handshake was answered with {head!r}")
    return wire


def message(wire):
    """The opcode and payload of the next frame of the gateway."""
    while len(wire.buffer) < 2:
        wire.more()
    size, start = wire.buffer[1] & 127, 2
    if size >= 126:
        start = 4 if size == 126 else 10
        while len(wire.buffer) < start:
            wire.more()
        size = int.from_bytes(wire.buffer[2:start], "big")
    while len(wire.buffer) < start + size:
        wire.more()
    opcode, payload = wire.buffer[0] & 15, wire.buffer[start : start + size]
    wire.buffer = wire.buffer[start + size :]
    return opcode, payload


def subscribe(number, tag, **variables):
    return text({"id": str(number), "type": "subscribe", "payload": {
        "query": "query Q($tag: String) { tag }", "variables": {"tag": tag, **variables}}})


def forged_fields(scene, until):
    """Fields of connection_init must not replace those that a proxy has set in the handshake."""
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        with opened(scene, b"X-User: from-the-proxy\r\n") as wire:
            forged = {"headers": {"x-user": "forged", "X-USER": "forged"}, "x-user": "forged", "X-User": "forged"}
            wire.send(text({"type": "connection_init", "payload": forged}) + subscribe(1, "forge"))
            while True:
                opcode, payload = message(wire)
                if b'"next"' in payload or opcode == 8 or b'"error"' in payload:
                    break
            if b"forged" in payload:
                raise Broken(f"a field of connection_init replaced that of the handshake: {payload[:300]}")
            if b"from-the-proxy" not in payload:
                raise Broken(f"the field of the handshake did not arrive: {opcode} {payload[:300]}")
        rounds += 1
    return f"{rounds} connections"


def many_fields(scene, until):
    """A connection_init of 1 MiB whose object has 100,000 names must not delay other clients."""
    payload = {"headers": {f"n{n}": "" for n in range(60_000)}}
    rounds, longest = 0, 0.0
    while rounds == 0 or time.monotonic() < until:
        begin = time.monotonic()
        with opened(scene) as wire:
            wire.send(text({"type": "connection_init", "payload": payload}))
            scene.ask(f"beside-{rounds}")
        longest = max(longest, time.monotonic() - begin)
        rounds += 1
    if longest > 5:
        raise Broken(f"an honest client waited {longest:.1f} s beside one connection_init")
    return f"{rounds} connections, {longest * 1000:.0f} ms at most"


def broken_frames(scene, until):
    """Frames and messages that break a rule: the connection is closed, and there is no other effect."""
    init = text({"type": "connection_init"})
    shapes = [
        frame(1, b"\xff\xfe"), frame(1, b"\xc3", final=False) + frame(0, b"("), frame(8, b"\x03\xe8\xff"), frame(8, b"\x03"),
        frame(8, struct.pack(">H", 1005)), frame(8, struct.pack(">H", 999)), frame(8, struct.pack(">H", 65535)), frame(3, b""),
        frame(0x0B, b""), frame(0, b"x"), frame(9, b"x" * 126), frame(9, b"", final=False), frame(1, b"x", masked=False),
        bytes([0xF1, 0x80]) + b"\0\0\0\0", b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff", frame(2, b"{}"), text(b"{"), text(b"[]"),
        text({"type": "subscribe"}), text({"type": "subscribe", "id": 5, "payload": {}}),
        text({"type": "subscribe", "id": "1", "payload": {"query": 5}}), text({"type": "nothing"}), text(b"[" * 100_000), init,
        frame(1, b"{", final=False) + frame(1, b"}"),
    ]
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        for shape in shapes:
            with opened(scene) as wire:
                wire.send(init + shape)
                wire.rest(0.2)
            rounds += 1
    return f"{rounds} connections"


def unread(scene, until):
    """An endless series of pings, operations and fragments by clients that read nothing."""
    init = text({"type": "connection_init"})
    floods = [
        frame(9, b"p" * 125) * 2000, b"".join(subscribe(n, "unread", size=20_000) for n in range(1000)),
        frame(1, b" " * 60_000, final=False) + frame(0, b" " * 60_000, final=False) * 100,
        text({"type": "ping", "payload": {"a": "b" * 10_000}}) * 200,
    ]
    sent = 0
    while time.monotonic() < until:
        for flood in floods:
            wire = opened(scene)
            wire.send(init)
            sent += wire.send_unread(flood * 5, 1)
            wire.reset()
    return f"{sent >> 20} MiB were taken"


def fragments(scene, until):
    """A message in many fragments, empty ones and those of one byte, must not delay other clients."""
    rounds, longest = 0, 0.0
    while rounds == 0 or time.monotonic() < until:
        for piece in (b"", b" "):
            begin = time.monotonic()
            with opened(scene) as wire:
                wire.send(frame(1, b" " * 1_000_000, final=False) + frame(0, piece, final=False) * 15_000)
                scene.ask(f"beside-fragments-{rounds}")
            longest = max(longest, time.monotonic() - begin)
            rounds += 1
    if longest > 5:
        raise Broken(f"an honest client waited {longest:.1f} s beside one message in fragments")
    return f"{rounds} messages, {longest * 1000:.0f} ms at most"


def repeated_identifiers(scene, until):
    """Ids of running operations are reused, and unknown operations are completed."""
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        with opened(scene) as wire:
            wire.send(text({"type": "connection_init"}))
            wire.send(b"".join(text({"id": os.urandom(6).hex(), "type": "complete"}) for _ in range(500)))
            wire.send(subscribe(1, "first", delay=0.2) + subscribe(1, "second"))
            received = wire.rest(2)
            if b"second" in received:
                raise Broken("two operations of one identifier ran")
        rounds += 1
    return f"{rounds} connections"


ATTACKS = [forged_fields, many_fields, broken_frames, unread, fragments, repeated_identifiers]
