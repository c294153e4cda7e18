"""The rig of all scenarios and measurements: their options, packages, programs, plugins, folder and end."""

import argparse
import importlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from machine import Failure, Machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The Python of the test peers, with GraphQL servers.
PEERS = ROOT / ".build/test-peers/bin/python"
STRICT = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
LIBRARY = [*STRICT, "-fPIC", "-shared", "-fvisibility=hidden", f"-I{ROOT}/Sources/CCarabiner/include"]
ENDINGS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def say(text: str) -> None:
    print(f"== {text}", file=sys.stderr, flush=True)


# Options


def at_least(least: int = 1, most: int | None = None):
    """The type of an option that takes a number."""
    bounds = f"from {least}" + (f" to {most}" if most else "")

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most and int(text) > most):
            raise argparse.ArgumentTypeError(f"{text} is not a number {bounds}")
        return int(text)

    return parse


def duration(text: str) -> float:
    """The seconds of a time, as in 200ms or 1s."""
    found = re.fullmatch(r"([1-9]\d*)(ms|s)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is not a time as in 200ms or 1s")
    return int(found[1]) / (1000 if found[2] == "ms" else 1)


def executable(text: str) -> pathlib.Path:
    if not os.access(text, os.X_OK) or os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is not an executable file")
    return pathlib.Path(text).resolve()


def add_seconds(parser, default: int, text: str, least: int = 1, most: int | None = None) -> None:
    parser.add_argument(
        "--seconds", type=at_least(least, most), default=default, metavar="N", help=f"{text}, from {least} (default: {default})")


def add_program(parser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--debug", action="store_true", help="use the debug build instead of building in release")
    group.add_argument("--program", type=executable, metavar="FILE", help="use this carabiner, and the programs beside it, as they are")


# Builds


def install(*packages: str) -> None:
    """Installs what tests need, and further packages of Debian."""
    subprocess.run([ROOT / "Scripts/install-test-peers", *packages], check=True)


def swift_build(*options: str, **environment: str) -> None:
    subprocess.run(["swift", "build", "--quiet", *options], cwd=ROOT, check=True, env={**os.environ, **environment})


def release(*products: str) -> pathlib.Path:
    """Builds programs in release. Returns the first one."""
    say(f"building {' and '.join(products)} in release")
    for product in products:
        swift_build("-c", "release", "--product", product)
    folder = subprocess.run(
        ["swift", "build", "-c", "release", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(folder) / products[0]


def compile_c(source: str, output: pathlib.Path, *options: str) -> pathlib.Path:
    """Compiles a C file of the repository."""
    subprocess.run(["cc", *options, "-o", output, ROOT / source], check=True)
    return output


class Rig(Machine):
    """One run of a scenario or a measurement: a folder for its files, and processes that end with it."""

    def __init__(self, folder: pathlib.Path, options: argparse.Namespace):
        super().__init__(folder)
        self.options = options

    def program(self, *products: str) -> pathlib.Path:
        """The first of these programs; the others are beside it. The test peers are installed, too."""
        install()
        options = self.options
        if not options.debug and not options.program:
            return release(*products)
        program = options.program or ROOT / ".build/debug" / products[0]
        for product in products[1 if options.program else 0:]:
            if not program.with_name(product).exists():
                raise Failure(f"{program.with_name(product)} does not exist; run swift build first, or leave out --debug and --program")
        return program

    def stamp(self, name: str, *definitions: str) -> pathlib.Path:
        """Builds the plugin that stamps requests and responses."""
        return compile_c(
            "Tests/Fixtures/Plugins/stamp.c", self.folder / f"{name}.so", *LIBRARY, *(f"-D{word}" for word in definitions))

    def logs(self) -> str:
        """The end of the log of each gateway, for the report of a failure."""
        found = ((process.name, self.log(process)) for process in self.gateways)
        return "".join(f"the end of the log of {name}:\n{text}\n" for name, text in found if text)


# Runs


def outcome(driver, rig: Rig) -> list[str]:
    """Runs a driver, and reports its problems. Its result is None, or figures and problems."""
    try:
        figures, problems = driver.run(rig) or ({}, [])
    except (Failure, subprocess.CalledProcessError) as error:
        figures, problems = {}, [str(error)]
    rig.end()
    problems += [f"{process.name} ended with the status {process.returncode}" for process in rig.gateways if process.returncode]
    if rig.options.json:
        rig.options.json.write_text(json.dumps(figures | {"problems": problems}, indent=2) + "\n")
    if problems:
        print("\n".join(problems) + f"\n{rig.logs()}", end="", file=sys.stderr)
    return problems


def end_by_signal(received, _):
    for each in ENDINGS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + received)


def run(driver, options: argparse.Namespace) -> int:
    # A caller may have blocked or ignored them, and children inherit this.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    for each in ENDINGS:
        signal.signal(each, end_by_signal)
    folder, is_kept = pathlib.Path(tempfile.mkdtemp()), options.keep
    try:
        with Rig(folder, options) as rig:
            problems = outcome(driver, rig)
        is_kept = is_kept or (problems and getattr(driver, "KEEPS_FAILURES", False))
        return 1 if problems else 0
    finally:
        if is_kept:
            say(f"logs and files are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def main(script: str, usage: str, drivers: dict[str, str]) -> int:
    """Runs the driver that the first argument names. `drivers` has the module of each name."""
    name, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("--list", [])
    if name in ("--help", "-h"):
        print(usage.strip())
    elif name == "--list":
        for each, module in drivers.items():
            print(f"{each:<12}{importlib.import_module(module).__doc__.splitlines()[0]}")
    elif name not in drivers:
        print(f"{script}: {name} does not exist; the names are: {', '.join(drivers)}", file=sys.stderr)
        return 2
    else:
        driver = importlib.import_module(drivers[name])
        if hasattr(driver, "main"):
            return driver.main(arguments)
        parser = argparse.ArgumentParser(
            prog=f"{script} {name}", description=driver.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
            epilog="Exit status: 0 as expected, 1 not, 2 usage.")
        driver.add_options(parser)
        parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write all figures as JSON")
        parser.add_argument("--keep", action="store_true", help="keep the folder with logs and files, and print its path")
        options = parser.parse_args(arguments)
        if hasattr(driver, "check_options"):
            driver.check_options(parser, options)
        return run(driver, options)
    return 0
