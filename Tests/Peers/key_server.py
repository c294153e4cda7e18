"""A server of JSON Web Key Sets for the tests.

Prints "listening PORT" once it accepts connections. /jwks answers with jwks.json of the given folder as it is at that moment, /slow with
the same after a second, /huge with a key set of 100 MB, and /refusing with the status 500. /count answers with the number of requests for
/jwks and /slow.
"""

import http.server
import sys
import threading
import time
from pathlib import Path

FOLDER = Path(sys.argv[1])
HUGE = 100_000_000


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0
    lock = threading.Lock()

    def do_GET(self):
        if self.path in ("/jwks", "/slow"):
            with Handler.lock:
                Handler.count += 1
            if self.path == "/slow":
                time.sleep(1)
            self.answer(200, (FOLDER / "jwks.json").read_bytes())
        elif self.path == "/huge":
            self.answer_hugely()
        elif self.path == "/count":
            self.answer(200, str(Handler.count).encode())
        else:
            self.answer(500, b"{}")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_hugely(self):
        self.send_response(200)
        self.send_header("Content-Length", str(HUGE))
        self.end_headers()
        piece = b'{"keys":[' + b" " * ((1 << 20) - 9)
        try:
            for _ in range(HUGE // len(piece)):
                self.wfile.write(piece)
            self.wfile.write(b" " * (HUGE % len(piece)))
        except OSError:
            pass  # The client has had enough.

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


server = Server(("127.0.0.1", 0), Handler)
print(f"listening {server.server_address[1]}", flush=True)
server.serve_forever()
