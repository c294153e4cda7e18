"""Run the plugins of earlier days, built as they were, on this host.

For each revision of carabiner.h whose notes hosts still read, the kits and sample plugins of that day are taken from git and built with
their own makefiles. Each plugin passes the checks of loading, tables, lifecycle and reload, and no check ends its process. Then one chain
of them, in process and in workers, answers queries of many clients at once.

Prints a table of levels: rules that came after a plugin may lower its level. Plugins in Swift take minutes for each day, and are left out
without --swift. Needs the whole history of the repository.
"""

import json
import os
import re
import subprocess

from machine import Failure
from rig import ROOT, Rig, add_program, at_least, say

HEADER = "Sources/CCarabiner/include/carabiner.h"
# The groups of checks for what a host needs of a plugin. Other rules are about how well it behaves.
GROUPS = ("LD", "DS", "LC", "HR")
QUERY = "query Books { books { title author { name } } }"
CHAIN = {"graphql": ["request-log"], "cache": ["ttl-cache"], "http": ["hmac-sign", "response-code"], "parsing": ["cbor-parser", "json"]}


def add_options(parser):
    add_program(parser)
    parser.add_argument("--requests", type=at_least(1), default=2000, metavar="N", help="the queries of a chain (default: 2000)")
    parser.add_argument("--swift", action="store_true", help="also build the plugins in Swift")
    parser.add_argument("revisions", nargs="*", metavar="REVISION", help="only these revisions of the header")


def git(*words) -> str:
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        raise Failure(f"git {' '.join(words)} failed: {run.stderr.strip()}; this scenario needs the whole history")
    return run.stdout


def revisions(named) -> list[str]:
    """The revisions of the header with today's type of notes, the oldest first."""
    kind = re.search(r"^#define CRB_NOTE_TYPE .*$", (ROOT / HEADER).read_text(), re.MULTILINE)[0]
    found = [each for each in git("log", "--reverse", "--format=%h", "--", HEADER).split() if kind in git("show", f"{each}:{HEADER}")]
    if unknown := [each for each in named if each not in found]:
        raise Failure(f"{unknown[0]} is not one of the revisions {' '.join(found)}")
    return named or found


def build(rig: Rig, revision: str) -> dict:
    """Builds the plugins of a day. Returns their files by name."""
    folder = rig.folder / revision
    folder.mkdir()
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "--no-same-permissions", "-C", folder], input=archive, check=True)
    plugins = {}
    for makefile in sorted(folder.glob("Plugins/*/Makefile")):
        place = makefile.parent
        if (place / "Package.swift").exists() and not rig.options.swift:
            continue
        made = subprocess.run(["make", "-s", "-C", place], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if made.returncode:
            raise Failure(f"{place.name} of {revision} cannot be built:\n{made.stderr[-2000:]}")
        plugins[place.name] = place / "build" / f"{place.name}.so"
    return plugins


def conform(program, plugin) -> tuple[int, list[str]]:
    """The level of a plugin, and why it would not work on this host."""
    run = subprocess.run(
        [program, "conform", "--level", "10", "--effort", "0.1", "--time-scale", "10", "--format", "json", plugin],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    try:
        report = json.loads(run.stdout)["plugins"][0]
    except (ValueError, KeyError, IndexError):
        return 0, [f"conform ended with {run.returncode}: {run.stderr[-500:]}"]
    bad = [check for check in report["checks"]
           if check["status"] not in ("PASS", "WARN", "SKIP", "FAIL") or (check["status"] == "FAIL" and check["id"][:2] in GROUPS)]
    return report["level"], [f"{check['id']} {check['status']} {check['detail']}"
                             + "".join(f": {finding['message']}" for finding in check["findings"]) for check in bad]


def manifest(rig: Rig, revision: str, plugins: dict, port: int, isolation: str):
    """A chain of the plugins of a day that the demo server understands."""
    used = [name for names in CHAIN.values() for name in names if name in plugins]
    configurations = {"ttl-cache": {"ttl-seconds": 60}, "hmac-sign": {"key": "0123456789abcdef"}}
    entries = [{"name": name, "file": str(plugins[name]), "isolation": isolation, "config": configurations.get(name, {})} for name in used]
    stages = {kind: [name for name in names if name in used or name in ("response-code", "json")] for kind, names in CHAIN.items()}
    file = rig.folder / f"{revision}-{isolation}.json"
    file.write_text(json.dumps({
        "carabiner": 1, "endpoint": f"http://127.0.0.1:{port}/graphql", "headers": {"Accept": "application/cbor"}, "plugins": entries,
        "chain": stages}))
    return file


def query(rig: Rig, program, file) -> str | None:
    """Sends queries through a chain. Returns what went wrong."""
    def run(*options):
        return subprocess.run(
            [program, "run", "-m", file, *options, "-"], input=QUERY, capture_output=True, text=True, env={**os.environ, "CARABINER_LOG": "error"})

    one = run()
    if one.returncode or '"title"' not in one.stdout:
        return f"one query ended with {one.returncode}: {one.stderr[-800:]}{one.stdout[-200:]}"
    many = run("--repeat", str(rig.options.requests), "--concurrency", "32", "--cache-policy", "networkOnly")
    return f"{rig.options.requests} queries ended with {many.returncode}: {many.stderr[-800:]}" if many.returncode else None


def run(rig: Rig):
    program = rig.program("carabiner", "carabiner-launcher", "carabiner-worker")
    server = rig.start("demo-server", [program, "demo-server"])
    port = rig.listening(server)
    levels, problems = {}, []
    for revision in revisions(rig.options.revisions):
        say(f"building the plugins of {revision}")
        plugins = build(rig, revision)
        levels[revision] = {}
        for name, plugin in plugins.items():
            levels[revision][name], found = conform(program, plugin)
            problems += [f"{revision} {name}: {text}" for text in found]
        for isolation in ("in-process", "worker"):
            if text := query(rig, program, manifest(rig, revision, plugins, port, isolation)):
                problems.append(f"{revision} {isolation}: {text}")
        print(f"{revision}  " + "  ".join(f"{name} {level}" for name, level in levels[revision].items()), flush=True)
    return {"levels": levels}, problems
