"""A real Connect server for the tests: connect-python on uvicorn, with methods made by hand of well-known types.

Prints "listening PORT" once it accepts connections. The service is peer.v1.Peer. Connect and gRPC-Web are served at the same paths.
/seen answers with the last request's method, path and header fields, as JSON.

With --require-auth, calls need a token. POST /token issues one, and /tokens-issued answers with the number of issued tokens.
"""

import argparse
import asyncio
import json
import socket
from urllib.parse import parse_qsl

import uvicorn
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf.struct_pb2 import Struct
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

SERVICE = "peer.v1.Peer"
last = {}


class Peer:
    async def echo(self, request, context):
        """Answers with the text, the method of HTTP in a header, and two trailers."""
        context.response_headers()["x-method"] = context.http_method()
        context.response_headers().add("x-list", "1, 2")
        context.response_headers().add("x-list", "3")
        context.response_trailers()["x-end"] = "4"
        return StringValue(value=request.value)

    async def headers(self, request, context):
        """Answers with the header fields of the request."""
        answer = Struct()
        answer.update(dict(context.request_headers().items()))
        return answer

    async def fail(self, request, context):
        """Fails with the code of this name, a detail, a header and a trailer."""
        context.response_headers()["x-head"] = "1"
        context.response_trailers()["x-end"] = "2"
        raise ConnectError(Code(request.value), f"asked for {request.value}", details=[StringValue(value="a detail")])

    async def slow(self, request, context):
        """Answers after so many milliseconds, whatever the deadline is."""
        await asyncio.sleep(request.value / 1000)
        return Int32Value(value=request.value)

    async def count(self, request, context):
        """Counts to a number. A negative one ends with an error."""
        context.response_headers()["x-head"] = "1"
        context.response_trailers()["x-end"] = "2"
        for number in range(1, abs(request.value) + 1):
            yield Int32Value(value=number)
        if request.value < 0:
            raise ConnectError(Code.ABORTED, "counted enough", details=[StringValue(value="a detail")])

    async def total(self, requests, context):
        """Adds the numbers of a stream."""
        total = 0
        async for request in requests:
            total += request.value
        return Int32Value(value=total)

    async def double(self, requests, context):
        """Doubles each number of a stream."""
        async for request in requests:
            yield Int32Value(value=2 * request.value)


def endpoints(peer):
    pure, impure = IdempotencyLevel.NO_SIDE_EFFECTS, IdempotencyLevel.UNKNOWN
    methods = [
        ("Echo", Endpoint.unary, StringValue, StringValue, pure, peer.echo),
        ("Say", Endpoint.unary, StringValue, StringValue, impure, peer.echo),
        ("Headers", Endpoint.unary, StringValue, Struct, pure, peer.headers),
        ("Fail", Endpoint.unary, StringValue, StringValue, pure, peer.fail),
        ("Slow", Endpoint.unary, Int32Value, Int32Value, pure, peer.slow),
        ("Count", Endpoint.server_stream, Int32Value, Int32Value, pure, peer.count),
        ("Total", Endpoint.client_stream, Int32Value, Int32Value, impure, peer.total),
        ("Double", Endpoint.bidi_stream, Int32Value, Int32Value, impure, peer.double),
    ]
    return {
        f"/{SERVICE}/{name}": make(
            method=MethodInfo(name=name, service_name=SERVICE, input=request, output=answer, idempotency_level=level),
            function=function,
        )
        for name, make, request, answer, level, function in methods
    }


class Application(ConnectASGIApplication):
    path = f"/{SERVICE}"


class Tokens:
    """Only the last token is valid."""

    issued = 0

    def issue(self):
        self.issued += 1
        return {"access_token": f"token-{self.issued}", "token_type": "Bearer"}

    def accept(self, scope):
        return (b"authorization", f"Bearer token-{self.issued}".encode()) in scope["headers"]


async def answer(send, value, status=200):
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(value).encode()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--require-auth", action="store_true")
    options = parser.parse_args()
    tokens = Tokens()
    application = Application(service=Peer(), endpoints=endpoints)

    async def app(scope, receive, send):
        if scope["type"] == "http":
            if scope["path"] == "/seen":
                return await answer(send, last)
            if scope["path"] == "/token":
                return await answer(send, tokens.issue())
            if scope["path"] == "/tokens-issued":
                return await answer(send, tokens.issued)
            last.clear()
            last.update(
                method=scope["method"], path=scope["path"], query=parse_qsl(scope["query_string"].decode()),
                headers=[[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
            )
            if options.require_auth and not tokens.accept(scope):
                return await answer(send, {"code": "unauthenticated", "message": "no valid token"}, 401)
        await application(scope, receive, send)

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    listener.listen(512)
    print(f"listening {listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


main()
