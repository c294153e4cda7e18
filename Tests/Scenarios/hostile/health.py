"""Asks a gateway for /healthz forty times a second, each time over a new connection, as an orchestrator does.

usage: health.py PORT PATIENCE

PATIENCE is the time limit of an answer in seconds.
For each line on its standard input it prints the longest answer since the last line in milliseconds, and the last failure. It is a
process of its own, because the threads of an attack would delay it.
"""

import http.client
import select
import sys
import time


def ask(port, patience):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
    try:
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        text = response.read()
        return "" if response.status == 200 else f"{response.status} {text[:100]}"
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        connection.close()


def main():
    port, patience = int(sys.argv[1]), int(sys.argv[2])
    longest, failure = 0.0, ""
    while True:
        begin = time.monotonic()
        failure = ask(port, patience) or failure
        longest = max(longest, time.monotonic() - begin)
        if select.select([sys.stdin], [], [], 0.025)[0]:
            if not sys.stdin.readline():
                return
            print(f"{longest * 1000:.1f} {failure}", flush=True)
            longest, failure = 0.0, ""


main()
