"""Opens browser.html in headless Chromium, from two origins, and prints what the page found as JSON.

usage: browser.py CHROMIUM SECONDS

The page is served at a free port of 127.0.0.1. Its origins are http://127.0.0.1:PORT and http://localhost:PORT; the port is printed
first, so that a test can allow one of them. The browser starts when the URL of the gateway has come as a line.
"""
import http.server
import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import urllib.parse

chromium, seconds = sys.argv[1], float(sys.argv[2])
page = pathlib.Path(__file__).with_name("browser.html").read_bytes()
found: queue.Queue = queue.Queue()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_page = self.path.startswith("/page")
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        if is_page:
            self.wfile.write(page)

    def do_POST(self):
        found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"listening {server.server_port}", flush=True)
gateway = sys.stdin.readline().strip()

results = {}
for host in ("127.0.0.1", "localhost"):
    query = urllib.parse.urlencode({"gateway": gateway})
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            [
                chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", f"--user-data-dir={profile}",
                f"http://{host}:{server.server_port}/page?{query}",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )
        try:
            results[host] = found.get(timeout=seconds)
        except queue.Empty:
            results[host] = f"the page did not answer within {seconds:g} s"
        finally:
            browser.kill()
            browser.communicate()
print(json.dumps(results), flush=True)
