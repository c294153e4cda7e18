"""An HTTP proxy that asks its backends for /readyz each second, and sends requests to those that are ready. It never sends one again.

usage: ready_proxy.py PORT...

Prints `port NUMBER`. A request that a backend does not answer is answered with 502.
"""

import asyncio
import itertools
import sys

INTERVAL = 1


class Backend:
    def __init__(self, port):
        self.port, self.is_ready, self.idle = port, True, []

    async def exchange(self, request):
        """Sends a request and returns the response, without its Connection field."""
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            head, body, keeps = await message(reader)
        except BaseException:
            writer.close()
            raise
        if keeps:
            self.idle.append((reader, writer))
        else:
            writer.close()
        return head + body

    async def watch(self):
        while True:
            try:
                answer = await self.exchange(b"GET /readyz HTTP/1.1\r\nHost: backend\r\n\r\n")
                self.is_ready = answer.startswith(b"HTTP/1.1 200")
            except (OSError, asyncio.IncompleteReadError):
                self.is_ready = False
            await asyncio.sleep(INTERVAL)


async def message(reader):
    """Head and body of a message with a length, and whether its sender keeps the connection open."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines, length, keeps = [], 0, True
    for line in head[:-4].split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        if name.lower() == b"connection":
            keeps = value.strip().lower() != b"close"
        else:
            lines.append(line)
    return b"\r\n".join(lines) + b"\r\n\r\n", await reader.readexactly(length), keeps


async def main():
    backends = [Backend(int(port)) for port in sys.argv[1:]]
    turns = itertools.count()

    async def serve(reader, writer):
        try:
            while True:
                head, body, keeps = await message(reader)
                ready = [backend for backend in backends if backend.is_ready]
                try:
                    answer = await ready[next(turns) % len(ready)].exchange(head + body)
                except (OSError, asyncio.IncompleteReadError, ZeroDivisionError) as error:
                    print("failed:", repr(error), file=sys.stderr, flush=True)
                    answer = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
                writer.write(answer)
                await writer.drain()
                if not keeps:
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await asyncio.gather(*(backend.watch() for backend in backends))


asyncio.run(main())
