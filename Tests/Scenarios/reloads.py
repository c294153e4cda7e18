"""Reloads of a gateway at full load, with a plugin whose file is overwritten meanwhile."""

import json
import os
import threading
import time

from gateway import Admin
from machine import resident_kb

# The memory that an ended generation may leave: its libraries are never unloaded. Measured with 300 generations of a Swift
# plugin.
KB_PER_GENERATION = 22
# The growth that is allowed for any process: allocators keep some pages, and each thread has its own.
KB_KEPT = 2048
# The pause between the two halves of a plugin's file: some reloads find only the first half.
HALFWAY = 0.01


class PluginFile:
    """The file of a plugin with two builds."""

    def __init__(self, rig):
        self.builds = [rig.stamp("one").read_bytes(), rig.stamp("two", 'STAMP="two"').read_bytes()]
        self.path, self.overwritten = rig.folder / "stamp.so", 0
        self.restore()
        os.chmod(self.path, 0o755)

    def restore(self):
        self.path.write_bytes(self.builds[0])

    def overwrite(self):
        """Overwrites the file in place, as cp does."""
        self.overwritten += 1
        build = self.builds[self.overwritten % 2]
        with open(self.path, "r+b", buffering=0) as file:
            file.truncate(0)
            file.write(build[: len(build) // 2])
            time.sleep(HALFWAY)
            file.write(build[len(build) // 2 :])


class Storm:
    """Reloads and overwrites until it is stopped. `others` are further actions, as (seconds between two of them, function)."""

    def __init__(self, gateway, plugin, options, others=()):
        self.gateway, self.plugin, self.over = gateway, plugin, threading.Event()
        # The connection of its thread.
        self.admin = Admin(gateway.socket)
        self.accepted, self.refused, self.problems = 0, [], []
        actions = [(options.reload_every, self.reload), (options.overwrite_every, plugin.overwrite), *others]
        self.threads = [threading.Thread(target=self.every, args=action) for action in actions]

    def __enter__(self):
        status = self.gateway.admin.settled()
        self.generation, self.kb_before = status["generation"], resident_kb(self.gateway.process)
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def every(self, interval, action):
        next_time = time.monotonic() + interval
        try:
            while not self.over.wait(max(0, next_time - time.monotonic())):
                action()
                # Intervals that were missed are not repeated.
                next_time = max(next_time + interval, time.monotonic())
        except Exception as error:
            self.problems.append(repr(error))

    def reload(self):
        status, text = self.admin.ask("POST", "/reload")
        if status == 200:
            self.accepted += 1
        elif status == 422:
            self.refused += json.loads(text)["problems"]
        else:
            self.problems.append(f"a reload was answered with {status}: {text}")

    def figures(self, allowed_kb=0):
        """The figures until now. `allowed_kb` is the memory that other actions may have left."""
        status = self.gateway.admin.settled()
        retired = status["generation"] - self.generation
        return {
            "accepted": self.accepted, "refused": status["reloads"]["refused"], "overwritten": self.plugin.overwritten,
            "retired": retired, "resident_kb": [self.kb_before, resident_kb(self.gateway.process)],
            "allowed_growth_kb": KB_KEPT + KB_PER_GENERATION * retired + allowed_kb}

    def problems_of(self, figures):
        problems, (before, after) = list(self.problems), figures["resident_kb"]
        if after - before > figures["allowed_growth_kb"]:
            problems.append(f"the memory grew by {after - before} kB; {figures['allowed_growth_kb']} kB are allowed")
        if not self.accepted or figures["retired"] < self.accepted:
            problems.append(f"{self.accepted} reloads were accepted, and {figures['retired']} generations retired")
        return problems

    def show(self, titles, calm, stormy, figures, ends=(), actions=()):
        """Prints a table of two runs, the second one in the storm. With workers, it has the ends of their calls, and further actions."""
        def line(label, left, right):
            print(f"{label:<20}{left:>18}{right:>18}")

        line("", *titles)
        for label, name, form in [
            ("requests", "requests", "{}"), ("requests a second", "rate", "{:.0f}"), *ends,
            ("failed otherwise" if ends else "failed", "failed", "{}"), ("lost", "lost", "{}"), ("p50, ms", "p50", "{:.2f}"),
            ("p99, ms", "p99", "{:.2f}"), ("longest, ms", "most", "{:.1f}"),
        ]:
            line(label, form.format(calm[name]), form.format(stormy[name]))
        for label, name in [
            *actions, ("reloads accepted", "accepted"), ("reloads refused", "refused"), ("plugin overwritten", "overwritten"),
            ("generations retired", "retired"),
        ]:
            line(label, "", figures[name])
        line("resident, kB", *figures["resident_kb"])
        for reason in sorted(set(self.refused)):
            print(f"refused: {self.refused.count(reason)} times: {reason.replace(str(self.plugin.path.parent), '…')}")
