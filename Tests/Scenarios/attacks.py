"""Attack a gateway with hostile clients, upstreams, plugins, workers and files.

Runs every attack of Tests/Scenarios/hostile while honest clients send requests. After each attack the gateway must run, every honest client
must have its own responses, /healthz must have answered within 100 ms throughout (in release), and memory must be within its limit. Prints
one line per attack. If an attack succeeds, logs and files are kept.

The family escapes has 180 attempts of a plugin to leave its process, from the harness and from a worker, as root and as another
user; escapes/unconfined shows that they work without confinement.
"""

import argparse
import contextlib
import subprocess
import time

from hostile import clients, escapes, files, http2, plugins, sockets, upstreams, workers
from hostile.scene import MEGABYTES, PATIENCE, HonestClient, Scene
from machine import Failure
from rig import LIBRARY, ROOT, Rig, add_program, add_seconds, compile_c

KEEPS_FAILURES = True
FAMILIES = {
    "clients": clients.ATTACKS, "http2": http2.ATTACKS, "sockets": sockets.ATTACKS,
    "upstreams": upstreams.ATTACKS, "plugins": list(plugins.ATTACKS), "workers": list(workers.ATTACKS),
    "files": [files.damaged], "escapes": escapes.ATTACKS,
}
# The additional growth that is allowed for clients without a window: the allocator returns little memory for a while.
ALLOWED = {"http2": 192}
# A busy machine needs a while to release the memory of the last requests. A leak stays.
SETTLE_SECONDS = 20
OPTIONS = [
    "--http2", "--maximum-body", "4MiB", "--receive-timeout", "20s", "--maximum-unsent", "64MiB", "--maximum-unsent-per-connection",
    "8MiB"]


class Report:
    """Prints a line for each attack when it ends."""

    def __init__(self, health_limit):
        self.rows, self.health_limit = [], health_limit

    def add(self, name, seconds, outcome, problems, memory=None, health=None):
        self.rows.append({
            "attack": name, "seconds": round(seconds, 1), "outcome": outcome, "problems": problems, "growth_mb": memory,
            "longest_healthz_ms": health})
        mark = "ok  " if not problems else "FAIL"
        grew = "" if memory is None else f", memory {memory:+d} MB"
        grew += "" if health is None else f", /healthz {health:.0f} ms"
        print(f"{mark} {name:<32} {seconds:5.1f} s  {outcome}{grew}", flush=True)
        for problem in problems:
            print(f"     {problem}", flush=True)


def run_attack(report, scene, name, attack, seconds, allowed=MEGABYTES, honest=True):
    """Runs one attack in a scene. Returns False if the gateway did not survive."""
    clients = [HonestClient(scene.port, f"{attack.__name__}-{n}") for n in range(2)] if honest else []
    begin, problems, outcome = time.monotonic(), [], ""
    with contextlib.ExitStack() as stack:
        for client in clients:
            stack.enter_context(client)
        try:
            outcome = attack(scene, begin + seconds) or ""
            scene.expect_alive()
        except Failure as error:
            problems.append(str(error))
        except (OSError, EOFError) as error:
            problems.append(f"the attack itself could not go on: {error!r}")
    for client in clients:
        problems += client.problems[:3]
        if not client.asked:
            problems.append("an honest client got no turn")
    health, failure = scene.longest_health()
    if failure:
        problems.append(f"/healthz failed: {failure}")
    elif health > report.health_limit:
        problems.append(f"/healthz took {health:.0f} ms; {report.health_limit} ms are allowed")
    growth = None
    try:
        growth = scene.megabytes() - scene.baseline
        settled = time.monotonic() + SETTLE_SECONDS
        while growth > allowed and time.monotonic() < settled:
            time.sleep(0.25)
            growth = scene.megabytes() - scene.baseline
        if growth > allowed:
            problems.append(f"memory grew by {growth} MB; {allowed} MB are allowed")
    except Failure as error:
        problems.append(str(error))
    report.add(name, time.monotonic() - begin, outcome, list(dict.fromkeys(problems)), growth, health)
    return growth is not None


def run_outside(report, name, attack, *arguments):
    """Runs an attack without a gateway."""
    begin, problems, outcome = time.monotonic(), [], ""
    try:
        outcome = attack(*arguments)
    except (Failure, subprocess.CalledProcessError) as error:
        problems.append(str(error))
    report.add(name, time.monotonic() - begin, outcome, problems)


class Siege:
    """All attacks on one build of the programs."""

    def __init__(self, rig, carabiner, report, seconds):
        self.folder, self.carabiner, self.report, self.seconds = rig.folder, carabiner, report, seconds

    def run(self, family, attacks):
        if family in ("plugins", "workers"):
            self.attack_inside(family, attacks)
        elif family == "files":
            (self.folder / "files").mkdir()
            run_outside(
                self.report, "files/damaged", files.damaged, self.carabiner, self.folder / "files", ROOT / "Plugins/noop/build/noop.so",
                time.monotonic() + self.seconds)
        elif family == "escapes":
            for attack in attacks:
                run_outside(
                    self.report, f"escapes/{attack.__name__}", attack, self.carabiner, self.folder / f"escapes-{attack.__name__}")
        else:
            self.attack_gateway(family, attacks)

    def attack_gateway(self, family, attacks):
        """A gateway that survives an attack is attacked again."""
        with contextlib.ExitStack() as stack:
            scene = None
            for attack in attacks:
                if scene is None:
                    scene = stack.enter_context(
                        Scene(self.carabiner, self.folder / f"{family}-{attack.__name__}", options=OPTIONS))
                name, allowed = f"{family}/{attack.__name__}", ALLOWED.get(family, MEGABYTES)
                if not run_attack(self.report, scene, name, attack, self.seconds, allowed):
                    scene = None

    def attack_inside(self, family, attacks):
        """Each attack by a plugin has a gateway of its own."""
        source = "worker" if family == "workers" else "hostile"
        compile_c(
            f"Tests/Scenarios/hostile/{source}.c", self.folder / f"{source}.so", *LIBRARY, f"-I{ROOT}/Sources/CCrossing/include",
            "-pthread", "-Wl,-z,now")
        for attack in attacks:
            name = f"{family}/{attack.__name__}"
            try:
                scene, allowed = self.scene_inside(family, attack)
            except Failure as error:
                self.report.add(name, 0, "", [str(error)])
                continue
            with scene:
                run_attack(self.report, scene, name, attack, self.seconds, allowed, honest=family == "workers")

    def scene_inside(self, family, attack):
        folder = self.folder / f"{family}-{attack.__name__}"
        if family == "workers":
            mode, allowed = workers.ATTACKS[attack]
            return Scene(self.carabiner, folder, workers.manifest(mode), OPTIONS, CARABINER_LOG="info"), allowed
        mode, grants, allowed = plugins.ATTACKS[attack]
        # Only this mode answers ordinary requests, so only it can have a warm-up.
        return Scene(
            self.carabiner, folder, plugins.manifest(mode, grants), OPTIONS, warm_up=mode == "split-request",
            MALLOC_MMAP_THRESHOLD_="131072"), allowed


def chosen(text=""):
    """The attacks of a family, or one of them, by family."""
    only_family, _, only_name = text.partition("/")
    found = {
        family: [attack for attack in attacks if only_name in ("", attack.__name__)] for family, attacks in FAMILIES.items()
        if only_family in ("", family)}
    found = {family: attacks for family, attacks in found.items() if attacks}
    if not found:
        raise argparse.ArgumentTypeError(f"there is no attack {text}; --list shows them")
    return found


def add_options(parser):
    add_seconds(parser, 600, "the approximate time of all attacks together")
    parser.add_argument(
        "--only", type=chosen, default=chosen(), metavar="FAMILY[/NAME]", help="run only these, for example clients or http2/no_window")
    parser.add_argument("--list", action="store_true", help="print the attacks with their descriptions")
    add_program(parser)


def run(rig: Rig):
    options = rig.options
    if options.list:
        for family, attacks in options.only.items():
            for attack in attacks:
                print(f"{family}/{attack.__name__:<24} {(attack.__doc__ or '').strip().splitlines()[0]}")
        return None
    carabiner = rig.program("carabiner", "carabiner-launcher", "carabiner-worker")
    subprocess.run([ROOT / "Scripts/build-plugins", "noop"], check=True)
    # Escapes are made once and take the time that they need.
    timed = sum(len(attacks) for family, attacks in options.only.items() if family != "escapes")
    # A debug build on a busy machine takes a thousand times as long.
    report = Report(PATIENCE * 1000 if options.debug else 100)
    siege = Siege(rig, carabiner, report, max(1, options.seconds / max(1, timed)))
    for family, attacks in options.only.items():
        siege.run(family, attacks)
    failed = [row["attack"] for row in report.rows if row["problems"]]
    print(f"{len(report.rows) - len(failed)} attacks held off, {len(failed)} succeeded")
    return {"seconds": options.seconds, "attacks": report.rows}, failed
