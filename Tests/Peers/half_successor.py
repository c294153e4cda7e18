"""Asks a gateway to hand over its sockets, and ends at a step, as a successor that is killed there.

usage: half_successor.py ADMIN-SOCKET STEP

STEP is `connected`, `asked`, `received` or `listening`. Prints the names of the sockets that it has received.
"""

import array
import json
import os
import signal
import socket
import sys

path, step = sys.argv[1:]


def end_at(reached):
    if reached == step:
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)


connection = socket.socket(socket.AF_UNIX)
connection.settimeout(30)
connection.connect(path)
end_at("connected")
connection.sendall(b"POST /take-over HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
end_at("asked")
received, descriptors = b"", []
while True:
    data, ancillary, _, _ = connection.recvmsg(65536, socket.CMSG_SPACE(128 * 4))
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers = array.array("i")
            numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
            descriptors += numbers
    if not data:
        break
    received += data
offer = json.loads(received.split(b"\r\n\r\n")[-1])
assert len(descriptors) == len(offer["sockets"]), received
print(" ".join(item.get("name", item["kind"]) for item in offer["sockets"]), flush=True)
end_at("received")
for descriptor, item in zip(descriptors, offer["sockets"]):
    if item["kind"] == "listener":
        listener = socket.socket(fileno=descriptor)
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
end_at("listening")
