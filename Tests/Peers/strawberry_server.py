"""A real GraphQL server for the tests: strawberry-graphql on FastAPI and uvicorn.

Prints "listening PORT" once it accepts connections. --require-auth makes /graphql answer 401 without a token of /token;
--token-uses N makes a token good for N requests. /persisted is the same with automatic persisted queries. /graphql also speaks both
protocols of GraphQL over WebSocket; /guarded requires the token "open sesame" in connection_init. --tls-certificate and
--tls-key enable TLS.
"""

import argparse
import asyncio
import functools
import hashlib
import secrets
import socket
from collections.abc import AsyncGenerator

import strawberry
import uvicorn
from strawberry.file_uploads import Upload
from fastapi import FastAPI, Form, Request, Response
from graphql import GraphQLError
from strawberry.exceptions import ConnectionRejectionError
from strawberry.fastapi import BaseContext, GraphQLRouter
from strawberry.schema.config import StrawberryConfig
from strawberry_persisted_queries import PersistedQueriesExtension

BOOKS = [
    ("1", "The Left Hand of Darkness", "Ursula K. Le Guin"),
    ("2", "Solaris", "Stanisław Lem"),
    ("3", "Kindred", "Octavia E. Butler"),
]


@strawberry.type
class Book:
    id: strawberry.ID
    title: str
    author: str

    @strawberry.field
    async def review(self) -> str:
        await asyncio.sleep(0.05)
        return f"{self.title}, read in one night"


@strawberry.type
class Query:
    @strawberry.field
    def books(self) -> list[Book]:
        return [Book(id=strawberry.ID(i), title=t, author=a) for i, t, a in BOOKS]

    @strawberry.field
    async def counted(self, to: int) -> strawberry.Streamable[int]:
        for number in range(1, to + 1):
            yield number
            await asyncio.sleep(0.01)

    @strawberry.field
    def book(self, id: strawberry.ID) -> Book | None:
        return next((b for b in self_books() if b.id == id), None)

    @strawberry.field
    def echo(self, info: strawberry.Info, text: str) -> str:
        return f"{info.context['request'].method} {text}"

    @strawberry.field
    def failing(self) -> str | None:
        raise GraphQLError("this field always fails", extensions={"code": "BROKEN"})

    @strawberry.field
    def secret(self, info: strawberry.Info) -> str:
        if not tokens.accept(info.context["request"].headers.get("authorization", "")):
            raise GraphQLError("a token is required", extensions={"code": "UNAUTHENTICATED"})
        return "the cake is real"

    @strawberry.field
    async def slow(self, seconds: float) -> str:
        await asyncio.sleep(min(seconds, 30))
        return "done"

    @strawberry.field
    def connection_param(self, info: strawberry.Info, name: str) -> str | None:
        return (info.context.get("connection_params") or {}).get(name)

    @strawberry.field
    def echo_header(self, info: strawberry.Info, name: str) -> str | None:
        return info.context["request"].headers.get(name)


def self_books() -> list[Book]:
    return [Book(id=strawberry.ID(i), title=t, author=a) for i, t, a in BOOKS]


@strawberry.type
class Received:
    variable: str
    name: str
    media_type: str
    size: float
    sha256: str


async def receive(variable: str, file: Upload) -> Received:
    digest = hashlib.sha256()
    size = 0
    while piece := await file.read(1 << 20):
        digest.update(piece)
        size += len(piece)
    return Received(variable=variable, name=file.filename, media_type=file.content_type, size=size, sha256=digest.hexdigest())


@strawberry.input
class Folder:
    name: str
    cover: Upload


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def upload(self, file: Upload) -> Received:
        return await receive("file", file)

    @strawberry.mutation
    async def upload_all(self, files: list[Upload], folder: Folder | None = None) -> list[Received]:
        received = [await receive(f"files.{i}", file) for i, file in enumerate(files)]
        if folder is not None:
            received.append(await receive(f"folder {folder.name}", folder.cover))
        return received

    @strawberry.mutation
    def rename(self, id: strawberry.ID, title: str) -> Book:
        return Book(id=id, title=title, author="somebody")


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def countdown(self, start: int = 3, every: float = 0.05, fail_at: int | None = None) -> AsyncGenerator[int, None]:
        for number in range(start, -1, -1):
            if number == fail_at:
                raise GraphQLError("the countdown broke off", extensions={"code": "BROKEN"})
            yield number
            await asyncio.sleep(every)

    @strawberry.subscription
    async def favourites(self, titles: list[str]) -> AsyncGenerator[Book, None]:
        for title in titles:
            yield Book(id=strawberry.ID("1"), title=title, author="somebody")
            await asyncio.sleep(0.02)

    @strawberry.subscription
    async def forever(self) -> AsyncGenerator[int, None]:
        number = 0
        ends.running += 1
        try:
            while True:
                yield number
                number += 1
                await asyncio.sleep(0.02)
        finally:
            ends.running -= 1
            ends.ended += 1


class Ends:
    """Counts running and ended endless subscriptions."""

    def __init__(self) -> None:
        self.running = 0
        self.ended = 0


ends = Ends()


class Guarded(GraphQLRouter):
    """Refuses WebSockets without the token."""

    async def on_ws_connect(self, context):
        if (context.get("connection_params") or {}).get("token") != "open sesame":
            raise ConnectionRejectionError({"reason": "a token is required"})
        return await super().on_ws_connect(context)


class Tokens:
    """The tokens, with the number of requests left for each."""

    def __init__(self) -> None:
        self.left: dict[str, int] = {}
        self.uses = 1_000_000
        self.issued = 0

    def issue(self) -> str:
        token = secrets.token_hex(8)
        self.left[token] = self.uses
        self.issued += 1
        return token

    def accept(self, authorization: str) -> bool:
        token = authorization.removeprefix("Bearer ")
        if self.left.get(token, 0) <= 0:
            return False
        self.left[token] -= 1
        return True


tokens = Tokens()
requests_seen: list[str] = []
app = FastAPI()


@app.post("/token")
def token(grant_type: str = Form(), client_id: str = Form(""), client_secret: str = Form("")) -> Response:
    if grant_type != "client_credentials" or client_secret == "wrong":
        return Response(status_code=401)
    body = f'{{"access_token":"{tokens.issue()}","expires_in":3600,"token_type":"Bearer"}}'
    return Response(content=body, media_type="application/json")


@app.get("/subscriptions")
def subscriptions() -> dict[str, int]:
    return {"running": ends.running, "ended": ends.ended}


@app.get("/tokens-issued")
def tokens_issued() -> int:
    return tokens.issued


class PersistedContext(BaseContext):
    """A request with its body as bytes, as the persisted-queries extension, written for Django, expects it."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.body = body

    @property
    def request(self):
        return self

    @request.setter
    def request(self, request) -> None:
        """The router sets its own request here, which has no bytes."""


async def persisted_context(request: Request) -> PersistedContext:
    requests_seen.append(request.method)
    return PersistedContext(await request.body())


@app.get("/persisted-requests")
def persisted_requests() -> list[str]:
    return requests_seen


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--require-auth", action="store_true")
    parser.add_argument("--token-uses", type=int, default=1_000_000)
    parser.add_argument("--tls-certificate")
    parser.add_argument("--tls-key")
    options = parser.parse_args()
    tokens.uses = options.token_uses

    if options.require_auth:

        @app.middleware("http")
        async def guard(request: Request, call_next):
            if request.url.path == "/graphql" and not tokens.accept(request.headers.get("authorization", "")):
                return Response(status_code=401, content="no valid token")
            return await call_next(request)

    schema = strawberry.Schema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        config=StrawberryConfig(enable_experimental_incremental_execution=True),
    )
    protocols = ["graphql-transport-ws", "graphql-ws", "multipart-subscription"]
    router = GraphQLRouter(schema, multipart_uploads_enabled=True, subscription_protocols=protocols)
    app.include_router(router, prefix="/graphql")
    app.include_router(Guarded(schema, subscription_protocols=protocols), prefix="/guarded")
    # The extension requires the execution context here. Newer extensions receive it later.
    persisted_queries = functools.partial(PersistedQueriesExtension(), execution_context=None)
    persisted = strawberry.Schema(query=Query, extensions=[persisted_queries])
    app.include_router(GraphQLRouter(persisted, context_getter=persisted_context), prefix="/persisted")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    listener.listen(512)
    print(f"listening {listener.getsockname()[1]}", flush=True)
    tls = {"ssl_certfile": options.tls_certificate, "ssl_keyfile": options.tls_key} if options.tls_certificate else {}
    uvicorn.Server(uvicorn.Config(app, log_level="error", **tls)).run(sockets=[listener])


main()
