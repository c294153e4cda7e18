"""Subscribes over graphql-transport-ws with the library websockets, and prints the server's messages, one per line.

usage: websocket_client.py URL QUERY
"""

import asyncio
import json
import sys

import websockets


async def main(url: str, query: str) -> None:
    async with websockets.connect(url, subprotocols=["graphql-transport-ws"]) as socket:
        print("protocol", socket.subprotocol)
        await socket.send(json.dumps({"type": "connection_init", "payload": {"any": "thing"}}))
        print(json.loads(await socket.recv())["type"])
        # A ping frame, whose pong the library waits for, and a ping message of the protocol.
        await (await socket.ping())
        await socket.send(json.dumps({"type": "ping"}))
        print(json.loads(await socket.recv())["type"])
        await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": query}}))
        while True:
            message = json.loads(await socket.recv())
            print(*[message["type"]] + [json.dumps(message[key]) for key in ("payload",) if key in message])
            if message["type"] != "next":
                break
    print("closed", socket.close_code)


asyncio.run(main(*sys.argv[1:]))
