"""An HTTP/2 server over TLS that ends some requests badly, for the tests.

Prints "listening PORT" once it accepts connections. It answers each request that it runs with the number of requests that it has run so far.

usage: http2_server.py CERTIFICATE KEY EVENT
The event comes at each third request of a connection:
  goaway      GOAWAY says that the request was not run, and the connection ends
  refused     RST_STREAM says that the request was not run; also with the first request of each connection if EVENT is all-refused
  run-goaway  the request is run, GOAWAY says so, and the connection ends without a response
  run-reset   the request is run, and RST_STREAM has another error
  run-lost    the request is run, and the connection ends without a response
  run-broken  the request is run, and the server breaks the protocol
  early       the response comes before the request is read, and then RST_STREAM without an error and GOAWAY
  cut         the same with a part of a response, and an error
"""

import socket
import ssl
import struct
import sys
import threading

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM = 0, 2, 7
STATUS_200 = b"\x88"
# content-type, as an entry of the static table, and its value.
JSON = b"\x0f\x10\x10application/json"
PREFACE = 24

event = sys.argv[3]
runs = 0
lock = threading.Lock()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def goaway(last):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, 0))


def run():
    global runs
    with lock:
        runs += 1
        return b"%d" % runs


def response(stream):
    return frame(HEADERS, END_HEADERS, stream, STATUS_200 + JSON) + frame(DATA, END_STREAM, stream, run())


def answer_early(connection, stream):
    """Each part in a TLS record of its own."""
    head, number = frame(HEADERS, END_HEADERS, stream, STATUS_200 + JSON), run()
    is_cut = event == "cut"
    connection.sendall(head + frame(DATA, 0, stream, b'{"data":' if is_cut else number))
    if not is_cut:
        connection.sendall(frame(DATA, END_STREAM, stream))
    connection.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", INTERNAL_ERROR if is_cut else NO_ERROR)) + goaway(stream))


def answer(connection, stream, count):
    """Returns whether the connection stays open."""
    if event == "all-refused" or event == "refused" and count % 3 == 0:
        connection.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", REFUSED_STREAM)))
        return True
    if count % 3 or event == "none":
        connection.sendall(response(stream))
        return True
    if event == "goaway":
        connection.sendall(goaway(stream - 2))
        return False
    run()
    if event == "run-goaway":
        connection.sendall(goaway(stream))
    elif event == "run-broken":
        connection.sendall(frame(DATA, 0, 0, b"not of a stream"))
        return True
    elif event == "run-reset":
        connection.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", INTERNAL_ERROR)))
        return True
    return False


def serve(connection):
    try:
        with context.wrap_socket(connection, server_side=True) as connection:
            reader = connection.makefile("rb")
            reader.read(PREFACE)
            connection.sendall(frame(SETTINGS, 0, 0))
            count = 0
            while len(head := reader.read(9)) == 9:
                kind, flags, stream = struct.unpack(">BBI", head[3:])
                payload = reader.read(int.from_bytes(head[:3], "big"))
                if kind in (SETTINGS, PING) and not flags & ACK:
                    connection.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
                if kind == HEADERS and event in ("early", "cut") and count % 3 == 2:
                    answer_early(connection, stream)
                    while reader.read(1 << 16):
                        pass  # Until the client closes: a close of ours would reset what it has not read.
                    return
                if kind in (HEADERS, DATA) and flags & END_STREAM:
                    count += 1
                    if not answer(connection, stream, count):
                        return
    except OSError:
        pass  # The client has closed the connection.


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))
print("listening", listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
