"""A third GraphQL server for the tests: graphene, which is class first, on uvicorn.

Prints "listening PORT" once it accepts connections. It answers queries by POST; /schema is its schema as graphene prints it.
"""

import json
import socket

import graphene
import uvicorn
from fastapi import FastAPI, Request, Response


class Genre(graphene.Enum):
    """The kind of a book."""

    NOVEL = "novel"
    POETRY = "poetry"

    @property
    def description(self):
        return "A long story." if self == Genre.NOVEL else None


class Node(graphene.Interface):
    id = graphene.ID(required=True)


class Book(graphene.ObjectType):
    class Meta:
        interfaces = (Node,)

    title = graphene.String(required=True, description="As on its cover.")
    genre = graphene.Field(Genre)
    subject = graphene.String(deprecation_reason="Use genre.")


class Author(graphene.ObjectType):
    class Meta:
        interfaces = (Node,)

    books = graphene.List(graphene.NonNull(Book), first=graphene.Int(default_value=10))


class Found(graphene.Union):
    class Meta:
        types = (Book, Author)


class Filter(graphene.InputObjectType):
    genres = graphene.List(graphene.NonNull(Genre), default_value=[Genre.POETRY])
    text = graphene.String()


class Query(graphene.ObjectType):
    found = graphene.List(Found, required=True, filter=Filter(), at=graphene.DateTime())

    def resolve_found(root, info, filter=None, at=None):
        return [Book(id="1", title="Solaris", genre=Genre.NOVEL)]


schema = graphene.Schema(query=Query, types=[Author])
app = FastAPI()


@app.post("/")
async def answer(request: Request) -> Response:
    asked = await request.json()
    result = schema.execute(asked["query"], variables=asked.get("variables"), operation_name=asked.get("operationName"))
    status = 200 if result.data is not None else 400
    return Response(json.dumps(result.formatted), status_code=status, media_type="application/json")


@app.get("/schema")
def printed() -> Response:
    return Response(str(schema), media_type="text/plain")


listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(512)
print(f"listening {listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
