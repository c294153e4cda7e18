"""An upstream for the attacks: responds honestly or misbehaves as the request asks, and reports the requests it received.

usage: upstream.py

It prints the port it listens on. A GraphQL request says in its variables what the answer is:

  tag        a text that is returned in data.tag, so that a client can identify its own response
  behaviour  the name of a way to misbehave, see MISBEHAVIOURS; without it the answer is honest
  size       bytes of padding in an honest answer
  delay      seconds before an honest answer

GET /seen answers with the names of all operations and the values of `x-user` that have arrived, as JSON.
"""

import asyncio
import base64
import hashlib
import json
import re
import zlib

SEEN = {"operations": {}, "users": {}, "paths": {}}
# The maximum size of a response that has no end of its own. A gateway must stop reading long before.
MOST_BYTES = 256 << 20
PIECE = 1 << 16
HONEST_TYPE = b"application/graphql-response+json"
PART_TYPE = b'multipart/mixed;boundary="-";deferSpec=20220824'


def note(kind, value):
    """Counts a value, up to a maximum number of different values."""
    counts = SEEN[kind]
    if value in counts or len(counts) < 1000:
        counts[value] = counts.get(value, 0) + 1


def head(status=b"200 OK", *fields):
    return b"HTTP/1.1 " + status + b"\r\n" + b"".join(field + b"\r\n" for field in fields) + b"\r\n"


def whole(body, content_type=HONEST_TYPE, status=b"200 OK", *fields):
    return head(status, b"Content-Type: " + content_type, b"Content-Length: %d" % len(body), *fields) + body


def honest(variables, user):
    data = {"tag": variables.get("tag"), "user": user, "padding": "x" * int(variables.get("size", 0))}
    return json.dumps({"data": data}).encode()


class Exchange:
    """One request, and the connection for its response."""

    def __init__(self, writer, variables, user, other_origin):
        self.writer, self.variables, self.user, self.other_origin = writer, variables, user, other_origin
        self.body = honest(variables, user)

    async def send(self, *pieces):
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def flood(self, piece, most=MOST_BYTES):
        sent = 0
        while sent < most:
            await self.send(piece)
            sent += len(piece)

    async def parts(self, pieces):
        """A multipart response without its end. Each piece is the JSON of one part."""
        await self.send(head(b"200 OK", b"Content-Type: " + PART_TYPE, b"Transfer-Encoding: chunked"))
        for piece in pieces:
            part = b"\r\n---\r\nContent-Type: application/json\r\n\r\n" + piece
            await self.send(b"%x\r\n%s\r\n" % (len(part), part))

    # Each behaviour returns False if the connection must be closed after it.

    async def closes_at_once(self):
        return False

    async def ends_in_the_head(self):
        await self.send(b"HTTP/1.1 200 OK\r\nContent-Type: appli")
        return False

    async def ends_in_the_body(self):
        await self.send(head(b"200 OK", b"Content-Type: " + HONEST_TYPE, b"Content-Length: 5000"), self.body)
        return False

    async def adds_an_answer(self):
        """A second, unsolicited response waits on a connection that looks reusable."""
        poison = json.dumps({"data": {"tag": "poison"}}).encode()
        await self.send(whole(self.body) + whole(poison))
        return True

    async def endless_head(self):
        await self.send(b"HTTP/1.1 200 OK\r\n")
        await self.flood(b"X-Filler: " + b"a" * 8000 + b"\r\n")
        return False

    async def interim_flood(self):
        await self.flood(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 200, 32 << 20)
        return False

    async def two_lengths(self):
        await self.send(
            head(b"200 OK", b"Content-Type: " + HONEST_TYPE, b"Content-Length: %d" % len(self.body), b"Content-Length: 5"), self.body)
        return False

    async def bad_chunks(self):
        await self.send(head(b"200 OK", b"Content-Type: " + HONEST_TYPE, b"Transfer-Encoding: chunked"), b"fffffffffffffffff\r\nxx")
        return False

    async def endless_body(self):
        await self.send(head(b"200 OK", b"Content-Type: " + HONEST_TYPE), b'{"data":{"tag":"')
        await self.flood(b"y" * PIECE)
        return False

    async def bomb(self):
        """A body of 1 GiB that is 1 MiB on the wire."""
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        await self.send(head(b"200 OK", b"Content-Type: " + HONEST_TYPE, b"Content-Encoding: gzip"))
        for _ in range(1024):
            await self.send(packer.compress(b" " * (1 << 20)))
            await asyncio.sleep(0)
        return False

    async def deep_json(self):
        await self.send(whole(b'{"data":' + b"[" * 200_000))
        return False

    async def not_json(self):
        await self.send(whole(b"\xff\xfe\x00", status=b"200 OK"))
        return True

    async def redirects_away(self):
        """A redirect to another origin, which must not receive the client's own headers."""
        location = b"Location: http://127.0.0.1:%d/elsewhere" % self.other_origin
        await self.send(head(b"307 Temporary Redirect", location, b"Content-Length: 0"))
        return True

    async def redirects_for_ever(self):
        await self.send(head(b"307 Temporary Redirect", b"Location: /graphql", b"Content-Length: 0"))
        return True

    async def growing_parts(self):
        """Each part adds 1 MiB to one result."""
        filler = b"z" * (1 << 20)
        first = b'{"data":{"tag":"t","list":[]},"hasNext":true}'
        grow = (b'{"incremental":[{"items":["%s"],"path":["list",%d]}],"hasNext":true}' % (filler, n) for n in range(256))
        await self.parts([first])
        for piece in grow:
            part = b"\r\n---\r\nContent-Type: application/json\r\n\r\n" + piece
            await self.send(b"%x\r\n%s\r\n" % (len(part), part))
        return False

    async def endless_part(self):
        await self.send(head(b"200 OK", b"Content-Type: " + PART_TYPE), b"\r\n---\r\nContent-Type: application/json\r\n\r\n[")
        await self.flood(b"1," * (PIECE // 2))
        return False

    async def part_headers(self):
        await self.send(head(b"200 OK", b"Content-Type: " + PART_TYPE), b"\r\n---\r\n")
        await self.flood(b"X-Filler: " + b"a" * 8000 + b"\r\n", 64 << 20)
        return False

    async def silence(self):
        await asyncio.sleep(1)
        return False


MISBEHAVIOURS = [
    name for name, value in vars(Exchange).items() if asyncio.iscoroutinefunction(value) and name not in ("send", "flood", "parts")]


async def read_request(reader):
    text = await reader.readuntil(b"\r\n\r\n")
    line, *fields = text.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = {}
    for field in fields:
        name, _, value = field.partition(":")
        headers[name.strip().lower()] = value.strip()
    method, target, _ = line.split(" ", 2)
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = b""
        while True:
            size = int(await reader.readuntil(b"\r\n"), 16)
            body += await reader.readexactly(size)
            await reader.readexactly(2)
            if size == 0:
                break
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return method, target, headers, body


async def websocket_flood(writer, headers):
    """An endless series of maximum-size pings to a client that must answer each."""
    key = headers.get("sec-websocket-key", "").encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key).digest())
    writer.write(head(
        b"101 Switching Protocols", b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Accept: " + accept,
        b"Sec-WebSocket-Protocol: graphql-transport-ws"))
    ready = b'{"type":"connection_ack"}'
    writer.write(bytes([0x81, len(ready)]) + ready)
    ping = bytes([0x89, 125]) + b"p" * 125
    for _ in range(2000):
        writer.write(ping * 500)
        await asyncio.wait_for(writer.drain(), 10)


def serve(other_origin):
    async def connection(reader, writer):
        try:
            keep = True
            while keep:
                method, target, headers, body = await read_request(reader)
                note("paths", target)
                if headers.get("upgrade", "").lower() == "websocket":
                    await websocket_flood(writer, headers)
                    break
                if target == "/seen":
                    writer.write(whole(json.dumps(SEEN).encode(), b"application/json"))
                    continue
                user = headers.get("x-user")
                note("users", f"{target} {user}")
                try:
                    request = json.loads(body or b"{}")
                except ValueError:
                    request = {}
                variables = request.get("variables") or {}
                for name in re.findall(r"\b(?:query|mutation|subscription)\s+(\w+)", request.get("query") or ""):
                    note("operations", name)
                exchange = Exchange(writer, variables, user, other_origin())
                behaviour = variables.get("behaviour")
                if behaviour in MISBEHAVIOURS:
                    keep = await getattr(exchange, behaviour)()
                else:
                    await asyncio.sleep(float(variables.get("delay", 0)))
                    await exchange.send(whole(exchange.body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.TimeoutError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            writer.close()

    return connection


async def main():
    ports = []
    origin = lambda: ports[1]
    servers = [await asyncio.start_server(serve(origin), "127.0.0.1", 0, limit=1 << 24) for _ in range(2)]
    ports += [server.sockets[0].getsockname()[1] for server in servers]
    print(*ports, flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main())
