# worker-test.49: with workers, beside a socket.
"""Measure the cost of the chain, compared with other libraries, and of plugins in workers.

Installs missing packages, builds everything in release, starts a server on loopback, and runs all cases in turns (A B A B …), each
in its own process. The table has the median, least and most of all rounds, and the aims. A run of all cases also has the
instruction counts of Scripts/measure counts, compared with the recorded counts.

The cases of workers (--filter worker) run the same stages in process and in a worker, in turns: 1 and 10 stages of one group, 1 and 32
requests at once, 1 KB and 100 KB. Their CPU time is that of both processes. Beside them are messages over a socket (--filter seqpacket).
"""

import collections
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import counts
import traffic
from rig import LIBRARY, ROOT, Rig, at_least, compile_c, install, release, say, swift_build

BUILD = ROOT / ".build/bench"
BENCH, PLUGINS = BUILD / "release/carabiner-bench", BUILD / "plugins"


def add_options(parser):
    parser.add_argument("--rounds", type=at_least(1), default=3, metavar="N", help="the number of runs per case (default: 3)")
    parser.add_argument("--filter", metavar="TEXT", help="run only cases whose name contains TEXT")
    parser.add_argument(
        "--sample", type=float, metavar="SECONDS", help="the time of a sample (default: 0.1); longer samples vary less")
    parser.add_argument(
        "--plots", type=pathlib.Path, metavar="DIR",
        help="write plots of cost by number of stages, size, plugins and rules as SVG (installs gnuplot)")
    parser.add_argument(
        "--flame", type=pathlib.Path, metavar="FILE", help="write a flame graph of a request of the default chain as SVG (installs perf)")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--build", action="store_true", help="build only")
    group.add_argument("--list", action="store_true", help="print the cases")


def build_plugins():
    """Builds the plugins of the cases, in C, Rust and Swift."""
    PLUGINS.mkdir(parents=True, exist_ok=True)
    subprocess.run([ROOT / "Scripts/build-plugins", "noop"], check=True)
    shutil.copy(ROOT / "Plugins/noop/build/noop.so", PLUGINS)
    compile_c("Tests/Benchmarks/Plugins/stages.c", PLUGINS / "stages.so", *LIBRARY, "-lpthread")
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--manifest-path", ROOT / "Tests/Benchmarks/Plugins/rust/Cargo.toml", "--target-dir",
         BUILD / "rust"], check=True)
    shutil.copy(BUILD / "rust/release/libnoop.so", PLUGINS / "rust-noop.so")
    swift_build(
        "-c", "release", "--package-path", "Tests/Benchmarks/Plugins/swift", "--scratch-path", ".build/bench/swift",
        "--disable-local-rpath", "-Xswiftc", "-no-toolchain-stdlib-rpath", "--product", "BenchNoop_1_0_0", CARABINER_PACKAGE="libraries")
    shutil.copy(BUILD / "swift/release/libBenchNoop_1_0_0.so", PLUGINS / "swift-noop.so")


def environment(launcher):
    """The environment to start workers, which find the libraries of Swift for a plugin in LD_LIBRARY_PATH."""
    target = json.loads(subprocess.run(["swift", "-print-target-info"], check=True, capture_output=True, text=True).stdout)
    folders = [target["paths"]["runtimeLibraryPaths"][0], os.environ.get("LD_LIBRARY_PATH")]
    return {**os.environ, "CARABINER_LAUNCHER": str(launcher), "LD_LIBRARY_PATH": ":".join(filter(None, folders))}


def count_instructions(rig):
    """Counts the subjects. Returns the file of the counts."""
    with contextlib.redirect_stdout(sys.stderr):
        now, worse = counts.compare_with_record(counts.count_subjects(rig, BUILD / "release/carabiner-count"))
    # A count that grew is reported here. The measurement continues.
    if worse:
        say("some counts grew: " + "; ".join(worse))
    file = rig.folder / "counts.json"
    file.write_text(json.dumps(now))
    return file


def plot(rig, figures, folder):
    """Draws the curves. A figure named X.at.N is the point N of the curve X."""
    folder.mkdir(parents=True, exist_ok=True)
    curves = collections.defaultdict(list)
    for name, figure in figures.items():
        curve, _, place = name.rpartition(".at.")
        if curve:
            curves[curve].append((int(place), figure["median"], figure["least"], figure["most"]))
    for curve, points in curves.items():
        data = rig.folder / f"{curve}.dat"
        data.write_text("".join(" ".join(map(str, point)) + "\n" for point in sorted(points)))
        subprocess.run(
            ["gnuplot", "-e", f"set terminal svg size 640,400; set output '{folder}/{curve}.svg'; set title '{curve}'; set key off; "
             f"set yrange [0:*]; set xlabel 'number'; set ylabel '{curve.rpartition('.')[2]} a request'; "
             f"plot '{data}' using 1:2:3:4 with yerrorlines pointtype 7"], check=True)
    say(f"the plots are in {folder}")


def draw_flames(rig, file):
    # A clock instead of a CPU counter, which virtual machines rarely have.
    data = rig.folder / "perf.data"
    subprocess.run(
        ["perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "-g", "-o", data, BENCH, "measure", "chain.mock", "--plugins", PLUGINS,
         "--scratch", rig.folder, "--sample", "1"], check=True, stdout=subprocess.DEVNULL)
    script = subprocess.run(["perf", "script", "-i", data], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    with open(file, "wb") as graph:
        subprocess.run(
            [sys.executable, ROOT / "Tests/Benchmarks/flame.py", "A request of the default chain, cache write included"], check=True,
            input=script, stdout=graph)
    say(f"the flame graph is {file}")


def run(rig: Rig):
    options = rig.options
    install("valgrind", "libsimdjson-dev", *(["gnuplot-nox"] if options.plots else []), *(["linux-perf"] if options.flame else []))
    say("building")

    def build(product):
        swift_build("-c", "release", "--scratch-path", ".build/bench", "--product", product, CARABINER_PACKAGE="bench")

    build("carabiner-bench")
    if options.list:
        subprocess.run([BENCH, "list"], check=True)
        return None
    # The programs of workers are C, and quickly built.
    launcher = release("carabiner-launcher", "carabiner-worker")
    build("carabiner-count")
    build_plugins()
    if options.build:
        return None
    server, file = traffic.start_upstream(rig, text=traffic.body(0, 10)), rig.folder / "figures.json"
    arguments = ["--rounds", options.rounds]
    if options.sample:
        arguments += ["--sample", options.sample]
    arguments += ["--filter", options.filter] if options.filter else ["--counts", count_instructions(rig)]
    done = subprocess.run(
        [str(word) for word in [BENCH, "run", "--plugins", PLUGINS, "--scratch", rig.folder, "--server", f"http://127.0.0.1:{server}/",
                                "--json", file, *arguments]], env=environment(launcher))
    figures = json.loads(file.read_text()) if file.exists() else {}
    if options.plots:
        plot(rig, figures["figures"], options.plots)
    if options.flame:
        draw_flames(rig, options.flame)
    return figures, [f"carabiner-bench ended with the status {done.returncode}"] if done.returncode else []
