"""Requests and their responses: the query of all clients, an upstream that answers it, and wrk, which sends it at full load."""

import getpass
import json
import os
import pathlib
import socket
import subprocess
import urllib.request

from machine import Failure, free_ports, listens, pinned

CONNECTIONS = 32
# The longest text that an upstream has in its configuration, in bytes.
LONGEST_WORDS = 200_000
# The request of the clients, about 150 bytes.
QUERY = json.dumps(
    {"query": "query Items($first: Int!) { items(first: $first) { id name price inStock tags } }", "operationName": "Items",
     "variables": {"first": 10}}, separators=(",", ":"))


def body(size=1024, count=9):
    """A GraphQL result of this many bytes, in a list of this many objects."""
    items = [
        {"__typename": "Item", "id": str(n), "name": f"Item number {n}", "price": n + 0.5, "inStock": True, "tags": ["a", "b"]}
        for n in range(count)
    ]
    bare = json.dumps({"data": {"items": items}}, separators=(",", ":"))
    items[0]["name"] += "." * (size - len(bare))
    return json.dumps({"data": {"items": items}}, separators=(",", ":"))


def nginx(machine, name, configuration, core=None):
    """Starts nginx with a configuration of its blocks `events` and `http`, whose temporary files are in the machine's folder."""
    file = machine.folder / f"{name}.conf"
    file.write_text(f"daemon off; pid {name}.pid; error_log {name}.error;\n{configuration}")
    return machine.start(name, ["nginx", "-p", machine.folder, "-c", file, "-e", machine.folder / f"{name}.error"], core)


def words(text):
    """Directives of nginx that answer with a text."""
    # A word of the configuration has at most 4 KB.
    pieces = [text[start:start + 4000].replace("\r", "\\r").replace("\n", "\\n") for start in range(0, len(text), 4000)]
    variables = "".join(f"set $piece{number} '{piece}'; " for number, piece in enumerate(pieces))
    return variables + 'return 200 "' + "".join(f"${{piece{number}}}" for number in range(len(pieces))) + '";'


def start_upstream(machine, core=None, text=body(), tls=None, others={}):
    """Starts a server that answers everything with the same text, and reports which of the stages' headers it received.

    tls is the folder of a certificate, as `certificate` makes it. others has other answers by the name that a request gives in its header
    X-Answer, each with its media type. Returns its port.
    """
    port, = free_ports(1)
    def fields(media_type="application/json"):
        return f"default_type '{media_type}'; add_header X-Seen \"$http_x_stage_1_down$http_x_stage_10_down\";"

    if len(text) <= LONGEST_WORDS:
        choose = "if ($http_x_answer) { rewrite ^ /$http_x_answer last; }" if others else ""
        answer = f"location / {{ {choose} {fields()} {words(text)} }}" + "".join(
            f"location = /{name} {{ {fields(media_type)} {words(other)} }}" for name, (media_type, other) in others.items())
    else:
        # A file answers no POST, but is the page of the error that a POST gets.
        (machine.folder / "text.json").write_text(text)
        answer = (f"sendfile on; location / {{ error_page 405 =200 /text.json; return 405; }}"
                  f"location = /text.json {{ {fields()} root {machine.folder}; }}")
    secure = "" if not tls else (
        f"ssl_protocols TLSv1.3; ssl_certificate {tls}/certificate.pem; ssl_certificate_key {tls}/key.pem;")
    # The folder is private.
    process = nginx(machine, "upstream", f"""
user {getpass.getuser()}; worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path upstream.body; keepalive_requests 100000000; client_body_in_single_buffer on;
  server {{
    listen 127.0.0.1:{port} backlog=1024{" ssl" if tls else ""}; {secure}
    {answer}
  }}
}}
""", core)
    machine.wait_until(process, lambda: listens(port))
    return port


def certificate(folder):
    """Makes a certificate for 127.0.0.1 and its key in a folder. It is also the authority to trust."""
    folder.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key.pem", "-out",
         folder / "certificate.pem"], check=True, capture_output=True)
    return folder


def wrk(url, seconds, core=None, timeout=5, connections=CONNECTIONS, requests=None):
    """Sends requests one after another over all connections. Returns the results.

    requests is a file of requests that are sent in turns, each followed by a zero byte.
    """
    done = subprocess.run(
        pinned(core) + ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", f"--timeout={timeout}s", "-s",
                        pathlib.Path(__file__).with_name("query.lua"), url],
        capture_output=True, text=True, env={**os.environ, "QUERY": QUERY, **({"REQUESTS": str(requests)} if requests else {})})
    if done.returncode != 0:
        raise Failure(f"wrk failed:\n{done.stdout}{done.stderr}")
    result = json.loads(done.stdout.strip().splitlines()[-1])
    if result["requests"] == 0:
        raise Failure(f"nothing was answered:\n{done.stdout}")
    return result


def answer(url):
    """The head and the body of one response."""
    request = urllib.request.Request(url, data=QUERY.encode(), headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return {name.lower(): value for name, value in response.getheaders()}, response.read().decode()


def answer_size(port):
    """The size of a response in bytes, including its head."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        question = b'{"query":"{ items { id } }"}'
        connection.sendall(
            b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (len(question), question))
        received = b""
        while b"\r\n\r\n" not in received or len(received) < received.index(b"\r\n\r\n") + 4 + len(body()):
            piece = connection.recv(65536)
            if not piece:
                raise Failure(f"the gateway gave no whole answer: {received[:500]}")
            received += piece
        return len(received)
