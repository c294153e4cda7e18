"""Escapes of plugins from the processes that confine them: the children of the harness, and workers.

The attempts are the fixtures in Tests/Fixtures/Plugins/escapes, 180 of them. Each confinement is attacked as the user that runs this
program, and as another user if that is root.
"""

import json
import os
import re
import shutil
import subprocess

from hostile.scene import Broken
from rig import ROOT

FIXTURES = ROOT / "Tests/Fixtures/Plugins"
NAMES = ["processes", "sockets", "files", "kernel"]
# The attempts have the numbers from 1 on.
MOST_ATTEMPTS = 200
# A number that neither the harness nor the launcher uses for its processes.
OTHER_USER = ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups"]
# Without a user namespace, the kernel counts the threads of all processes of the user, so there is no thread limit.
TOLERATED_WITHOUT_NAMESPACES = "179 more threads"
SECONDS = 300


class Yard:
    """A folder with files that do not belong to a plugin and that any process may change, and the compiled attempts."""

    def __init__(self, carabiner, folder):
        self.folder, self.outside = folder, folder / "outside"
        self.outside.mkdir(parents=True)
        # Another user may not be able to reach the folder of the build.
        for program in "carabiner-launcher", "carabiner-worker":
            shutil.copy(carabiner.with_name(program), folder)
        self.launcher = folder / "carabiner-launcher"
        for number in range(1, MOST_ATTEMPTS):
            (self.outside / f"file-{number}").write_text("x")
            (self.outside / f"folder-{number}").mkdir()
        # Each parent was made by mktemp for one user.
        for path in [folder.parent, folder]:
            path.chmod(0o1777)
        for path in [self.outside, *self.outside.iterdir()]:
            path.chmod(0o777 if path.is_dir() else 0o666)
        self.before = self.listed()

    def listed(self):
        return sorted(str(path) for path in self.outside.rglob("*"))

    def compile(self, name, kind, options):
        output = self.folder / f"{name}-{kind}"
        subprocess.run(
            ["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", f'-DOUTSIDE="{self.outside}"', *options,
             "-o", output, FIXTURES / "escapes" / f"{name}.c", "-lpthread", "-lrt"], check=True)
        return output

    def plugin(self, name, kind, *options):
        return self.compile(
            name, kind + ".so",
            ["-fPIC", "-shared", "-fvisibility=hidden", f"-I{ROOT}/Sources/CCarabiner/include", f"-I{FIXTURES}/bad", *options])

    def run(self, user, command):
        """The process when it has ended. It may use the folder."""
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder)}
        try:
            return subprocess.run(
                [*user, *map(str, command)], capture_output=True, text=True, errors="replace", timeout=SECONDS, env=environment,
                cwd=self.folder, check=False)
        except subprocess.TimeoutExpired as error:
            raise Broken(f"{command[0]} did not end within {SECONDS} s") from error


def users():
    return [[], OTHER_USER] if os.geteuid() == 0 else [[]]


def counted(text, places, tolerated=None):
    """How many attempts were made in all places. Broken if one succeeded, or if a place is missing."""
    succeeded = [line for line in text.splitlines() if line.startswith("succeeded in ")]
    succeeded = [line for line in succeeded if not (tolerated and line.endswith(tolerated))]
    if succeeded:
        raise Broken("a plugin escaped: " + ", ".join(succeeded))
    found = {place: int(tried) for place, _, tried in re.findall(r"^in (\w+) (\d+) of (\d+)$", text, re.MULTILINE)}
    if set(found) != set(places) or min(found.values()) < 20:
        raise Broken(f"not all attempts were made: {found}, {text[-500:]}")
    return sum(found.values())


def harness(carabiner, folder):
    """A plugin in the harness's child tries to reach what is outside of its process."""
    yard, tried = Yard(carabiner, folder), 0
    for name in NAMES:
        plugin = yard.plugin(name, "harness")
        for user in users():
            run = yard.run(user, [carabiner, "conform", "--check", "SE01", "--effort", "0.05", "--format", "json", plugin])
            try:
                check = json.loads(run.stdout)["plugins"][0]["checks"][0]
            except (ValueError, KeyError, IndexError) as error:
                raise Broken(f"the harness gave no report: {run.stdout[:300]} {run.stderr[:300]}") from error
            has_namespaces = yard.run(user, ["unshare", "--user", "true"]).returncode == 0
            tried += counted(
                check.get("output", ""), ["constructor", "create", "thread"], None if has_namespaces else TOLERATED_WITHOUT_NAMESPACES)
    if yard.listed() != yard.before:
        raise Broken("files outside were changed")
    return f"{tried} attempts"


def worker(carabiner, folder):
    """A plugin in a worker tries to reach what is outside of its process, in namespaces and without them."""
    yard, tried = Yard(carabiner, folder), 0
    without = folder / "without"
    source = ROOT / "Tests/Fixtures/Confinement/without.c"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", without, source], check=True)
    for name in NAMES:
        plugin = yard.plugin(name, "worker", "-DWORKER")
        for user in users():
            for prefix in [], [without, "namespaces", "--"]:
                run = yard.run(user, [*prefix, yard.launcher, "--plugin", plugin, "--seconds", "60"])
                if run.returncode != 0 or "\nmapped\n" not in run.stdout:
                    raise Broken(f"the worker did not try everything: {run.stdout[:600]} {run.stderr[:300]}")
                has_namespaces = "in force: namespaces of its own\n" in run.stdout
                tried += counted(run.stderr, ["constructor", "thread"], None if has_namespaces else TOLERATED_WITHOUT_NAMESPACES)
    if yard.listed() != yard.before:
        raise Broken("files outside were changed")
    return f"{tried} attempts"


def unconfined(carabiner, folder):
    """The control: the same attempts without confinement, most of which have to succeed."""
    outcomes = []
    for number, user in enumerate(users()):
        yard, succeeded, tried = Yard(carabiner, folder / str(number)), 0, 0
        for name in NAMES:
            run = yard.run(user, [yard.compile(name, "program", ["-DPROGRAM"])])
            found = re.search(r"^in program (\d+) of (\d+)$", run.stderr, re.MULTILINE)
            if not found:
                raise Broken(f"the program did not try everything: {run.stderr[-300:]}")
            succeeded, tried = succeeded + int(found[1]), tried + int(found[2])
        if tried < 110 or succeeded * 2 <= tried:
            raise Broken(f"only {succeeded} of {tried} attempts work without confinement, so the others prove nothing")
        outcomes.append(f"{succeeded} of {tried} work")
    return " and ".join(outcomes)


ATTACKS = [harness, worker, unconfined]
