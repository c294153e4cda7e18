"""Counts the instructions and allocations of a request in carabiner serve, for guard.py."""

import concurrent.futures
import pathlib
import sys

import instructions
import parts
import proxies
import rig

# Another process may take the port of a program before it listens.
ATTEMPTS = 3


class OneConnection(parts.Part):
    """Requests one after another. With more connections the counts vary, because requests share wake-ups."""

    connections = 1

    def __init__(self, folder, counted):
        super().__init__(folder)
        self.counted = counted


def count_one(folder, name, stages, requests):
    folder = pathlib.Path(folder)
    program = proxies.Program(name, stages, proxies.carabiner(folder / "carabiner", folder, stages))
    for attempt in range(1, ATTEMPTS + 1):
        try:
            part = OneConnection(folder / f"attempt-{attempt}", requests)
            return instructions.count(part.folder, folder / "sigsuspend.so", part, program, uses_counters=False)
        except (Exception, SystemExit) as error:
            rig.raise_if_terminated(error)
            print(f"{name} was not counted, attempt {attempt} of {ATTEMPTS}: {error}", file=sys.stderr)
    raise RuntimeError(f"{name} could not be counted")


def count(folder, requests):
    """The counts by subject. folder has carabiner, headers.so and sigsuspend.so."""
    subjects = {"serve.stages.0": [], "serve.stages.10": proxies.STAGES}
    # Each has a process, because signals that end a run are handled there.
    with concurrent.futures.ProcessPoolExecutor(len(subjects)) as pool:
        started = {name: pool.submit(count_one, folder, name, stages, requests) for name, stages in subjects.items()}
        return {name: counted.result() for name, counted in started.items()}
