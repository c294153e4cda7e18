"""Measures the processor time of a request in carabiner serve, nginx and Envoy, each on its own core, alternately. Then it measures
latencies, and counts the user instructions of a request.

usage: costs.py CARABINER ENVOY FOLDER --plugins DIR [--seconds N] [--rounds N] [--only NAME] [--json FILE] [--no-instructions]

FOLDER is empty. DIR has headers.so for carabiner, libheaders.so for Envoy, and sigsuspend.so for callgrind.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import instructions
import rig

STAGES = [f"stage-{number}" for number in range(1, 11)]
ENVOY_TYPES = "type.googleapis.com/envoy.extensions.filters"
# The target: at most half the cost of Envoy with ten filters that do the same.
OURS, THEIRS, AIM = "carabiner, ten C stages", "Envoy, ten dynamic modules", 0.5
# The numbers of open connections for which latencies are measured.
LATENCIES = [1, 32, 256]


def carabiner(machine, options, name, stages, port, upstream, core):
    """The gateway. Its other built-in stages have default settings."""
    manifest = machine.folder / f"{name}.yaml"
    plugins = "".join(f"  - {{name: {stage}, file: {options.plugins.resolve()}/headers.so}}\n" for stage in stages)
    manifest.write_text(
        "carabiner: 1\nserve: {return-headers: [x-*]}\n"
        + (f"plugins:\n{plugins}chain: {{http: [{', '.join(stages)}, response-code]}}\n" if stages else ""))
    return machine.start(
        name,
        [options.carabiner, "serve", "-m", manifest, "--listen", f"127.0.0.1:{port}", "--endpoint",
         f"http://127.0.0.1:{upstream}/graphql"], core, CARABINER_LOG="error")


def nginx(machine, name, port, upstream, core):
    """nginx as a proxy with persistent connections."""
    conf = machine.folder / f"{name}.conf"
    conf.write_text(f"""
daemon off; master_process off; pid {machine.folder}/{name}.pid; error_log {machine.folder}/{name}.error;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000000;
  client_body_temp_path {machine.folder}/{name}.body; proxy_temp_path {machine.folder}/{name}.proxy;
  upstream up {{ server 127.0.0.1:{upstream}; keepalive 64; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    location / {{ proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
""")
    return machine.start(name, ["nginx", "-p", machine.folder, "-c", conf, "-e", f"{machine.folder}/{name}.error"], core)


def envoy(machine, options, name, filters, port, upstream, core):
    """Envoy with one worker. Features besides proxying are off where possible."""
    def address(number):
        return {"socket_address": {"address": "127.0.0.1", "port_value": number}}

    modules = [
        {"name": stage, "typed_config": {
            "@type": f"{ENVOY_TYPES}.http.dynamic_modules.v3.DynamicModuleFilter",
            "dynamic_module_config": {"name": "headers"}, "filter_name": stage}}
        for stage in filters
    ]
    router = {"name": "router", "typed_config": {
        "@type": f"{ENVOY_TYPES}.http.router.v3.Router", "suppress_envoy_headers": True, "dynamic_stats": False}}
    connections = {
        "@type": f"{ENVOY_TYPES}.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "in",
        "codec_type": "HTTP1", "generate_request_id": False, "http_filters": modules + [router],
        "route_config": {"virtual_hosts": [
            {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "up"}}]}]}}
    configuration = {"static_resources": {
        "listeners": [{
            "address": address(port), "filter_chains": [{"filters": [{"name": "http", "typed_config": connections}]}]}],
        "clusters": [{
            "name": "up", "type": "STATIC", "load_assignment": {
                "cluster_name": "up", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address(upstream)}}]}]}}]}}
    path = machine.folder / f"{name}.json"
    path.write_text(json.dumps(configuration))
    return machine.start(
        name, [options.envoy, "-c", path, "--concurrency", "1", "--use-dynamic-base-id", "-l", "warn"], core,
        ENVOY_DYNAMIC_MODULES_SEARCH_PATH=str(options.plugins.resolve()))


def check(name, url, stages):
    """Ends the run if a subject does not do the measured work."""
    head, text = rig.answer(url)
    up = [stage for stage in STAGES if head.get(f"x-{stage}-up") == "one"]
    seen = head.get("x-seen", "")
    if text != rig.body() or up != stages or seen != ("oneone" if stages else ""):
        sys.exit(f"{name} does not answer as it should:\n{head}\n{text}")


def programs(options):
    """The measured programs: name, stages, and a function that starts one."""
    def ours(stages):
        return lambda machine, name, port, upstream, core=None: carabiner(
            machine, options, name, stages, port, upstream, core)

    def peer(filters):
        return lambda machine, name, port, upstream, core=None: envoy(machine, options, name, filters, port, upstream, core)

    def proxy(machine, name, port, upstream, core=None):
        return nginx(machine, name, port, upstream, core)

    every = [
        ("carabiner, no stages", [], ours([])), (OURS, STAGES, ours(STAGES)), ("nginx", [], proxy),
        ("Envoy, no filters", [], peer([])), (THEIRS, STAGES, peer(STAGES))]
    return [program for program in every if options.only in program[0]]


def measure(options):
    """Times of all programs, which run in turns: a list of samples each, and latencies by the number of connections."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("two cores are needed: one for what is measured, and one for what asks and answers")
    core, other = cores[0], cores[1]
    upstream, *ports = rig.free_ports(6)
    with rig.Rig(options.folder) as machine:
        machine.upstream(upstream, other)
        subjects = {}
        for name, stages, start in programs(options):
            port = ports.pop()
            process = start(machine, name, port, upstream, core)
            url = f"http://127.0.0.1:{port}/graphql"
            machine.wait_for(process, port, "/graphql")
            check(name, url, stages)
            rig.wrk(url, 1, other)
            subjects[name] = (process, url, [], {})

        def run(name, url, **settings):
            result = rig.wrk(url, options.seconds, other, **settings)
            errors = {kind: result[kind] for kind in ("status", "connect", "read", "write", "timeout") if result[kind]}
            if errors:
                sys.exit(f"{name}: some requests failed: {errors}")
            return result

        for number in range(options.rounds):
            for name, (process, url, samples, _) in subjects.items():
                before = rig.cpu_seconds(process)
                result = run(name, url)
                used = rig.cpu_seconds(process) - before
                samples.append({
                    "microseconds": used / result["requests"] * 1e6, "busy": used / result["seconds"],
                    "rate": result["requests"] / result["seconds"], "p50": result["p50"], "p99": result["p99"]})
            print(f"== round {number + 1} of {options.rounds}", file=sys.stderr)
        for connections in LATENCIES:
            for name, (_, url, _, latencies) in subjects.items():
                # Peers refuse requests now and then when many connections open at once. The other figures are still good.
                try:
                    result = run(name, url, connections=connections)
                except SystemExit as error:
                    print(f"== no latencies with {connections} connections: {error}", file=sys.stderr)
                    continue
                latencies[connections] = {"p50": result["p50"], "p99": result["p99"]}
        print("== latencies", file=sys.stderr)
        return {name: (samples, latencies) for name, (_, _, samples, latencies) in subjects.items()}


def count(options):
    """The user instructions of a request by program. A program that the tool cannot run has none."""
    counts = {}
    # This valgrind cannot read the compiler's debug information.
    stripped = options.folder / "carabiner"
    subprocess.run(["strip", "-g", "-o", stripped, options.carabiner], check=True)
    options.carabiner = stripped
    for name, _, start in programs(options):
        try:
            counts[name] = instructions.count(options.folder, options.plugins.resolve() / "sigsuspend.so", name, start)
        except (Exception, SystemExit) as error:
            print(f"== {name}: instructions were not counted: {error}", file=sys.stderr)
        print(f"== instructions of {name}", file=sys.stderr)
    return counts


def show(figures):
    print(f"{'µs of CPU a request':<30}{'median':>9}{'least':>9}{'most':>9}{'core busy':>11}{'requests/s':>12}"
          f"{'instructions':>14}")
    for name, figure in figures.items():
        counted = figure["instructions"]
        print(f"{name:<30}{figure['median']:>9.1f}{figure['least']:>9.1f}{figure['most']:>9.1f}{figure['busy']:>11.0%}"
              f"{figure['rate']:>12.0f}{'—' if counted is None else counted:>14}")
    print(f"\n{'ms until the response':<30}" + "".join(f"{f'{number} open':>20}" for number in LATENCIES))
    print(f"{'':<30}" + "".join(f"{'p50':>10}{'p99':>10}" for _ in LATENCIES))
    for name, figure in figures.items():
        latencies = [figure["latencies"].get(number, {}).get(part) for number in LATENCIES for part in ("p50", "p99")]
        print(f"{name:<30}" + "".join(f"{'—':>10}" if value is None else f"{value:>10.3f}" for value in latencies))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("carabiner", "envoy", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--plugins", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--no-instructions", dest="instructions", action="store_false")
    options = parser.parse_args()
    measured = measure(options)
    counts = count(options) if options.instructions else {}
    figures = {}
    for name, (samples, latencies) in measured.items():
        costs = [sample["microseconds"] for sample in samples]
        figures[name] = {
            "median": statistics.median(costs), "least": min(costs), "most": max(costs),
            "busy": statistics.median(sample["busy"] for sample in samples),
            "rate": statistics.median(sample["rate"] for sample in samples),
            "instructions": counts.get(name), "latencies": latencies}
    show(figures)
    ratio = None
    if OURS in figures and THEIRS in figures:
        ratio = figures[OURS]["median"] / figures[THEIRS]["median"]
        print(f"{OURS}, beside {THEIRS}: {ratio:.2f}; the aim is {AIM}, and it is {'met' if ratio <= AIM else 'not met'}")
    if options.json:
        options.json.write_text(json.dumps(
            {"seconds": options.seconds, "rounds": options.rounds, "ratio": ratio, "aim": AIM, "figures": figures,
             "samples": {name: samples for name, (samples, _) in measured.items()}}, indent=2) + "\n")


main()
