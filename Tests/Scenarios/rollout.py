"""Show a canary that is rolled back, a shadow with different results, and a replay of recorded operations.

Starts carabiner demo-server and carabiner serve in front of it, and loads three new generations of a plugin. The first fails its requests;
it runs as a canary for half of the users and is rolled back. The second fails too; it runs as a shadow, whose results are compared and
never returned. The third is good; recorded operations are replayed before it is loaded. The steps are printed.
"""

import collections
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request

from gateway import Gateway
from machine import Failure
from rig import Rig, add_program

USERS = 20
QUERY = json.dumps({"query": "query Title { book(id: 2) { title } }"}).encode()


def add_options(parser):
    add_program(parser)


def say(text):
    print(f"== {text}", flush=True)


class Rollout:
    """A gateway with the plugin, and its operator."""

    def __init__(self, rig: Rig):
        self.folder, self.executable = rig.folder, rig.program("carabiner")
        for name, *definitions in [("one",), ("two", 'STAMP="two"'), ("bad", "UP_FAILS")]:
            rig.stamp(name, *definitions)
        upstream = rig.listening(rig.start("upstream", [self.executable, "demo-server", "--quiet"]))
        self.gateway = Gateway(
            rig, self.executable, self.manifest("chain.yaml", "one"), "--endpoint", f"http://127.0.0.1:{upstream}/graphql", "--record",
            rig.folder / "traffic.jsonl")

    def manifest(self, name, plugin, trial=""):
        """Writes a manifest with one of the builds, and a trial under `serve`."""
        file = self.folder / name
        file.write_text(f"""carabiner: 1
serve: {{return-headers: [x-stamp-*], forward-headers: [x-user]{trial and f", {trial}"}}}
plugins: [{{name: stamp, file: {plugin}.so}}]
chain: {{http: [stamp, response-code]}}
""")
        return file

    def run(self, *words, status=0):
        """Runs the command. Returns what it prints."""
        done = subprocess.run(
            [self.executable, *words], capture_output=True, text=True,
            env={**os.environ, "CARABINER_ADMIN": f"unix:{self.gateway.socket}"})
        if done.returncode != status:
            raise Failure(f"carabiner {words[0]} ended with the status {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def reload(self, plugin, trial=""):
        self.manifest("chain.yaml", plugin, trial)
        print(self.run("reload"), end="")

    def stamps(self):
        """Which builds the users get, and how many of them; the others get an error."""
        found = collections.Counter(filter(None, map(self.stamp, range(1, USERS + 1))))
        return ", ".join(f"{count} get {stamp}" for stamp, count in sorted(found.items()))

    def stamp(self, user):
        """The stamp of a response."""
        headers = {"Content-Type": "application/json", "X-User": f"user-{user}"}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.gateway.url, QUERY, headers), timeout=10) as response:
                return response.headers["X-Stamp-Up"]
        except urllib.error.HTTPError as error:
            return error.headers["X-Stamp-Up"]

    def status(self, text, first, last=r"\Z"):
        """Waits until the status contains a text, and prints its lines from the first to that before the last."""
        for _ in range(100):
            status = self.run("status")
            if text in status:
                print(re.search(rf"^{first}.*?(?=^{last}|\Z)", status, re.MULTILINE | re.DOTALL)[0], end="", flush=True)
                return
            time.sleep(0.1)
        raise Failure(f"{status}\nthe status never contained: {text}")


def run(rig: Rig):
    rollout = Rollout(rig)
    traffic, figures = rig.folder / "traffic.jsonl", {}

    def show(step, text):
        figures[step] = rollout.stamps()
        say(text.format(figures[step]))

    show("before", f"of {USERS} users, {{}}")
    say("a canary that fails its operations")
    rollout.reload("bad", "canary: {share: 50%, for: 10m, key: x-user, minimum-operations: 5}")
    show("canary", f"of {USERS} users, {{}}, the others an error")
    rollout.status("last reload  rolled back", "last reload")
    show("rolled_back", "and afterwards: {}")
    say("a shadow that fails its operations")
    rollout.reload("bad", "shadow: {share: 100%}")
    show("shadow", f"of {USERS} users, {{}}")
    rollout.status(f"Title: 0 the same, {USERS} different", "on trial", "last reload")
    print(rollout.run("rollout", "abort"), end="")
    say("recorded operations, replayed through the next manifest before it is loaded")
    good = rollout.manifest("next.yaml", "two")
    print(rollout.run("replay", traffic, "-m", good), end="")
    # All requests differ: they have another stamp.
    print(rollout.run("replay", traffic, "-m", good, "--requests", "--show", "1", status=1), end="")
    say("and through the bad one")
    print(rollout.run("replay", traffic, "-m", rollout.manifest("chain.yaml", "bad"), "--show", "1", status=1), end="")
    rollout.reload("two")
    generation = rollout.gateway.admin.status()["generation"]
    show("after", f"generation {generation}: of {USERS} users, {{}}")
    everyone = {"before": "one", "rolled_back": "one", "shadow": "one", "after": "two"}
    problems = [f"{step}: of {USERS} users, {figures[step]}, and all should get {stamp}"
                for step, stamp in everyone.items() if figures[step] != f"{USERS} get {stamp}"]
    return figures | {"generation": generation}, problems
