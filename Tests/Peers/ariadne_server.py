"""A second GraphQL server for the tests: ariadne, which is schema first, on hypercorn, which also supports HTTP/2.

Prints "listening PORT" once it accepts connections. Its errors, its uploads and both WebSocket protocols are its own.
A subscription by POST that accepts text/event-stream is answered with events. --legacy-websocket speaks graphql-ws in place of
graphql-transport-ws; --tls-certificate and --tls-key serve HTTPS and wss.
"""

import argparse
import asyncio
import hashlib
import socket

from ariadne import (
    MutationType,
    ObjectType,
    QueryType,
    SubscriptionType,
    UnionType,
    make_executable_schema,
    upload_scalar,
)
from ariadne.asgi import GraphQL
from ariadne.asgi.handlers import GraphQLHTTPHandler, GraphQLTransportWSHandler, GraphQLWSHandler
from ariadne.contrib.sse import SSESubscriptionHandler
from graphql import GraphQLError
from hypercorn.asyncio import serve
from hypercorn.config import Config

SCHEMA = """
scalar Upload
union Thing = Shelf | Room
type Room { id: ID! name: String! shelves: [Shelf!]! }
type Shelf { id: ID! label: String! room: Room! }
type Received { name: String! size: Int! sha256: String! }
type Query {
  things: [Thing!]!
  shelf(id: ID!): Shelf
  room(id: ID!): Room
  failing: String!
  echoHeader(name: String!): String
}
type Mutation {
  relabel(id: ID!, label: String!): Shelf
  upload(file: Upload!): Received!
}
type Subscription { labels(of: ID!, count: Int!): Shelf! refused: Int! }
"""

rooms = {"1": {"id": "1", "name": "North"}, "2": {"id": "2", "name": "Süd"}}
shelves = {str(number): {"id": str(number), "label": f"shelf {number}", "room": str(1 + number % 2)} for number in range(1, 6)}

query, mutation, subscription = QueryType(), MutationType(), SubscriptionType()
room_type, shelf_type, thing_type = ObjectType("Room"), ObjectType("Shelf"), UnionType("Thing")


@thing_type.type_resolver
def type_of(value, *_):
    return "Shelf" if "label" in value else "Room"


@room_type.field("shelves")
def shelves_of(room, _info):
    return [shelf for shelf in shelves.values() if shelf["room"] == room["id"]]


@shelf_type.field("room")
def room_of(shelf, _info):
    return rooms[shelf["room"]]


@query.field("things")
def things(*_):
    return [*rooms.values(), *shelves.values()]


@query.field("shelf")
def shelf(_, _info, id):
    return shelves.get(id)


@query.field("room")
def room(_, _info, id):
    return rooms.get(id)


@query.field("failing")
def failing(*_):
    raise GraphQLError("this field always fails", extensions={"code": "BROKEN"})


@query.field("echoHeader")
def echo_header(_, info, name):
    return info.context["request"].headers.get(name)


@mutation.field("relabel")
def relabel(_, _info, id, label):
    if id not in shelves:
        raise GraphQLError(f"there is no shelf {id}")
    shelves[id] = {**shelves[id], "label": label}
    return shelves[id]


@mutation.field("upload")
async def upload(_, _info, file):
    content = await file.read()
    return {"name": file.filename, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@subscription.source("labels")
async def labels(_, _info, of, count):
    for number in range(count):
        yield {**shelves[of], "label": f"label {number}"}
        await asyncio.sleep(0.02)


@subscription.field("labels")
def label(value, _info, of, count):
    return value


@subscription.source("refused")
async def refused(*_):
    raise GraphQLError("subscriptions are forbidden", extensions={"code": "FORBIDDEN"})
    yield 0


@subscription.field("refused")
def refused_value(value, _info):
    return value


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--legacy-websocket", action="store_true")
    parser.add_argument("--tls-certificate")
    parser.add_argument("--tls-key")
    options = parser.parse_args()

    schema = make_executable_schema(
        SCHEMA, query, mutation, subscription, room_type, shelf_type, thing_type, upload_scalar
    )
    handler = GraphQLWSHandler() if options.legacy_websocket else GraphQLTransportWSHandler()
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    listener.listen(512)
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.accesslog = None
    config.errorlog = None
    config.certfile = options.tls_certificate
    config.keyfile = options.tls_key
    print(f"listening {listener.getsockname()[1]}", flush=True)
    over_http = GraphQLHTTPHandler(subscription_handlers=[SSESubscriptionHandler(ping_interval=1)])
    await serve(GraphQL(schema, http_handler=over_http, websocket_handler=handler, execute_get_queries=True), config)


asyncio.run(main())
