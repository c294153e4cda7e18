"""Runs a command on a terminal of 60 columns and 12 rows, types a key after a text was shown, and prints the result.

usage: terminal.py TEXT KEY COMMAND…

Prints {"exit", "restored", "output"} as JSON; "restored" is true if the terminal has its former settings.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios

# The ioctl that reads the number of the terminal. Python's termios does not define it.
TIOCGPTN = 0x80045430

text, key, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    # Waits until the size is set and the settings are saved.
    sys.stdin.readline()
    os.execv(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 60, 0, 0))
# A second open end, so that the settings can be read after the child has ended.
number = struct.unpack("I", fcntl.ioctl(terminal, TIOCGPTN, b"0000"))[0]
end = os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)
before = termios.tcgetattr(end)
os.write(terminal, b"\n")
output = b""
is_typed = False
status = None
while status is None or select.select([terminal], [], [], 0)[0]:
    if select.select([terminal], [], [], 0.05)[0]:
        output += os.read(terminal, 65536)
    elif status is None and (found := os.waitpid(child, os.WNOHANG)) != (0, 0):
        status = found[1]
    if not is_typed and text.encode() in output:
        is_typed = True
        os.write(terminal, key.encode())
print(json.dumps({
    "exit": os.waitstatus_to_exitcode(status), "restored": termios.tcgetattr(end) == before,
    "output": output.decode().split("\n", 1)[1],
}))
