"""ELF files with all kinds of damage: inspecting one must not crash, hang or use much memory."""

import os
import random
import struct
import subprocess
import time

from hostile.scene import Broken

SECONDS = 20
MEGABYTES = 300


def inspected(carabiner, path):
    """Runs `carabiner inspect` on a file. Returns the exit status and the peak memory in MB.

    The kernel counts the memory of this process too, at the moment of the fork, so attacks keep no large texts.
    """
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen([str(carabiner), "inspect", str(path)], stdin=subprocess.DEVNULL, stdout=nowhere, stderr=nowhere)
        end = time.monotonic() + SECONDS
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage.ru_maxrss >> 10
            if time.monotonic() > end:
                process.kill()
                process.wait()
                return None, 0
            time.sleep(0.002)


def flipped(data, chance):
    """Changes some bytes, most of them in the tables."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 2, 8, 64])):
        where = chance.randrange(64 if chance.random() < 0.3 else min(len(data), 4096) if chance.random() < 0.7 else len(data))
        data[where] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    return bytes(data)


def cut(data, chance):
    return data[: chance.randrange(len(data))]


def grown(data, chance):
    """Replaces a number in the header or a program header with a very large or overflowing one."""
    data = bytearray(data)
    headers = struct.unpack_from("<Q", data, 32)[0]
    count = struct.unpack_from("<H", data, 56)[0]
    where = headers + 56 * chance.randrange(count) + 8 * chance.randrange(1, 7) if chance.random() < 0.8 else 24 + 8 * chance.randrange(3)
    struct.pack_into("<Q", data, where, chance.choice([2**64 - 1, 2**63, 2**63 - 1, 2**32, len(data), len(data) - 1, 1 << 40, 0]))
    return bytes(data)


def overlapping_notes(data, _):
    """Five hundred note segments over the same eight megabytes."""
    filler = 8 << 20
    table = 64
    notes = 512
    header = bytearray(data[:64])
    struct.pack_into("<Q", header, 32, table)
    struct.pack_into("<Q", header, 40, 0)
    struct.pack_into("<HH", header, 54, 56, notes)
    struct.pack_into("<HHH", header, 58, 0, 0, 0)
    start = table + notes * 56
    note = struct.pack("<IIQQQQQQ", 4, 4, start, 0, 0, filler, filler, 4)
    return bytes(header) + note * notes + struct.pack("<III", 4, 1 << 16, 0x21505249) .ljust(20, b"\0") * (filler // 20 + 1)


KINDS = [flipped, cut, grown, flipped, grown]


def damaged(carabiner, folder, plugin, until):
    """Mutations of a good plugin. Each is determined by its number."""
    data = plugin.read_bytes()
    count, refused = 0, 0
    target = folder / "damaged.so"
    while count < len(KINDS) + 1 or time.monotonic() < until:
        chance = random.Random(count)
        kind = overlapping_notes if count == 0 else KINDS[count % len(KINDS)]
        target.unlink(missing_ok=True)
        target.write_bytes(kind(data, chance))
        os.chmod(target, 0o755)
        status, megabytes = inspected(carabiner, target)
        if status is None or status < 0 or status > 100 or megabytes > MEGABYTES:
            kept = folder / f"damaged-{count}.so"
            kept.write_bytes(target.read_bytes())
            what = f"did not end in {SECONDS} s" if status is None else f"ended with {status} and took {megabytes} MB"
            raise Broken(f"carabiner inspect {what}; the file of case {count} ({kind.__name__}) is {kept}")
        refused += status != 0
        count += 1
    return f"{count} files, {refused} refused"
