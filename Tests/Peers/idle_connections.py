"""Opens connections to a port of this machine and holds them until its input ends. Prints their number in a line.

They come from several addresses of the loopback, so that no address runs out of ports.
"""
import resource
import socket
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
ADDRESSES = 4
RESERVE = 64

_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
if most != resource.RLIM_INFINITY and most < count + RESERVE:
    sys.exit(f"{count} connections need as many descriptors, and the system allows {most}; raise it with ulimit -Hn")
resource.setrlimit(resource.RLIMIT_NOFILE, (count + RESERVE, most))
connections = [
    socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(f"127.0.0.{2 + number % ADDRESSES}", 0))
    for number in range(count)
]
print(f"open {len(connections)}", flush=True)
sys.stdin.read()
