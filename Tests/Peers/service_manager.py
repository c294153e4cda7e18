"""Acts as systemd for a program: provides its socket and receives its notifications. Prints notifications and responses, one per line.

With --watch among the arguments, it changes the manifest after the reload by a signal. With --admin, it asks for a reload after that.

usage: service_manager.py COMMAND ARGUMENT...
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

PATIENCE = 30

with tempfile.TemporaryDirectory() as folder:
    notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notifications.bind(f"{folder}/notify")
    notifications.settimeout(PATIENCE)
    listener = socket.create_server(("127.0.0.1", 0))

    def hand_over():
        os.dup2(listener.fileno(), 3)

    # LISTEN_PID must be the number of the child, so a shell sets it before it executes the command.
    environment = dict(os.environ, NOTIFY_SOCKET=f"{folder}/notify", LISTEN_FDS="1")
    process = subprocess.Popen(
        ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *sys.argv[1:]],
        env=environment, preexec_fn=hand_over, pass_fds=[3], stdout=subprocess.DEVNULL,
    )

    def say():
        print(notifications.recv(4096).decode().split("\n")[0], flush=True)

    def say_rest():
        notifications.setblocking(False)
        try:
            while True:
                print(notifications.recv(4096).decode().replace("\n", " "), flush=True)
        except BlockingIOError:
            pass

    try:
        say()
        with urllib.request.urlopen(f"http://127.0.0.1:{listener.getsockname()[1]}/healthz", timeout=PATIENCE) as answer:
            print(answer.read().decode().strip(), flush=True)
        process.send_signal(signal.SIGHUP)
        say()
        say()
        if "--watch" in sys.argv:
            with open(sys.argv[sys.argv.index("-m") + 1], "a") as manifest:
                manifest.write("headers: {x-a: b}\n")
            say()
        if "--admin" in sys.argv:
            admin = sys.argv[sys.argv.index("--admin") + 1]
            subprocess.run([sys.argv[1], "reload", "--admin", admin], check=True, stdout=subprocess.DEVNULL)
            say()
        process.terminate()
        say()
        status = process.wait(PATIENCE)
        say_rest()
        print("exit", status, flush=True)
    finally:
        process.kill()
