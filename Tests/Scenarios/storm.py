"""Reload a gateway and overwrite its plugin at full load; with --isolation worker, kill and stop its workers.

wrk sends requests to carabiner serve at full load, with one plugin, and nginx with a response of 1 KB as upstream. The first run is
undisturbed. In the second run the manifest is reloaded repeatedly, and the plugin's file is overwritten in place with one of two builds.
Prints requests, failures, latencies and memory of both runs. No request may fail or be lost, and memory may grow only by what the ended
generations explain.

With --isolation worker, the plugin runs in two workers, which are started again as often as they end. In the second run one of them is
killed every 200 ms, and one is stopped every second, which the host must notice. Only the requests that a worker was working on may
fail. Each response is checked by a client beside wrk. A third run of ten seconds kills the worker of a manifest with default settings:
then requests are refused with 503 and Retry-After.
"""

import reloads
import traffic
import worker_storm
from gateway import Gateway
from rig import Rig, add_program, add_seconds, duration, say

MANIFEST = """carabiner: 1
serve: {return-headers: [x-stamp-*]}
plugins: [{name: stamp, file: stamp.so}]
chain: {http: [stamp, response-code]}
"""


def add_options(parser):
    add_seconds(parser, 60, "the time of each run")
    parser.add_argument("--isolation", choices=["worker"], help="run the plugin in workers, and kill and stop them")
    for name, default, text in [
        ("--reload-every", "200ms", "the time between reloads"),
        ("--overwrite-every", "1s", "the time between overwrites; the file is incomplete for 10 ms, so some reloads are refused"),
        ("--kill-every", "200ms", "the time between kills of workers"), ("--stop-every", "1s", "the time between stops, SIGSTOP"),
    ]:
        parser.add_argument(name, type=duration, default=duration(default), metavar="TIME", help=f"{text} (default: {default})")
    add_program(parser)


def run(rig: Rig):
    options, executable = rig.options, rig.program("carabiner", "carabiner-launcher", "carabiner-worker")
    plugin = reloads.PluginFile(rig)
    endpoint = f"http://127.0.0.1:{traffic.start_upstream(rig)}/graphql"
    if options.isolation:
        return worker_storm.run(rig, executable, plugin, endpoint)
    (rig.folder / "chain.yaml").write_text(MANIFEST)
    gateway = Gateway(rig, executable, rig.folder / "chain.yaml", "--endpoint", endpoint, CARABINER_LOG="error")
    gateway.expect_stamp()
    size = traffic.answer_size(gateway.port)
    traffic.wrk(gateway.url, 2)
    say(f"{options.seconds} seconds without and {options.seconds} seconds with reloads")
    calm = gateway.measured(options.seconds)
    with reloads.Storm(gateway, plugin, options) as storm:
        stormy = gateway.measured(options.seconds)
    figures = storm.figures()
    storm.show(("without reloads", "with reloads"), calm, stormy, figures)
    before, after = figures["resident_kb"]
    print(f"memory grew by {after - before} kB; {figures['allowed_growth_kb']} kB are allowed: {reloads.KB_PER_GENERATION} for each "
          f"generation retired, and {reloads.KB_KEPT} once")
    problems = storm.problems_of(figures)
    for name, measured in (("without reloads", calm), ("with reloads", stormy)):
        if measured["failed"] or measured["lost"]:
            problems.append(f"{name}: {measured['failed']} requests failed and {measured['lost']} were lost")
        # All responses have the same length, so an error response changes the sum. The last responses may be cut off.
        if not 0 <= measured["bytes"] - measured["requests"] * size < traffic.CONNECTIONS * size:
            problems.append(f"{name}: {measured['bytes']} bytes in {measured['requests']} answers of {size} bytes: some were others")
    return figures | {
        "seconds": options.seconds, "reload_every": options.reload_every, "overwrite_every": options.overwrite_every,
        "without_reloads": calm, "with_reloads": stormy}, problems
