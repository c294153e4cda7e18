"""Measures the processor time of a request in carabiner serve, nginx and Envoy, each on its own core, alternately.

usage: costs.py CARABINER ENVOY FOLDER --plugins DIR [--seconds N] [--rounds N] [--only NAME] [--json FILE]

FOLDER is empty, and DIR has headers.so for carabiner and libheaders.so for Envoy.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys

import rig

STAGES = [f"stage-{number}" for number in range(1, 11)]
ENVOY_TYPES = "type.googleapis.com/envoy.extensions.filters"
# The target: at most half the cost of Envoy with ten filters that do the same.
OURS, THEIRS, AIM = "carabiner, ten C stages", "Envoy, ten dynamic modules", 0.5


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
daemon off; worker_processes 1; pid {machine.folder}/{name}.pid; error_log {machine.folder}/{name}.error;
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


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("carabiner", "envoy", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--plugins", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("two cores are needed: one for what is measured, and one for what asks and answers")
    core, other = cores[0], cores[1]
    upstream, *ports = rig.free_ports(6)
    with rig.Rig(options.folder) as machine:
        machine.upstream(upstream, other)
        subjects = {}
        for name, stages, start in [
            ("carabiner, no stages", [], lambda name, port: carabiner(machine, options, name, [], port, upstream, core)),
            (OURS, STAGES, lambda name, port: carabiner(machine, options, name, STAGES, port, upstream, core)),
            ("nginx", [], lambda name, port: nginx(machine, name, port, upstream, core)),
            ("Envoy, no filters", [], lambda name, port: envoy(machine, options, name, [], port, upstream, core)),
            (THEIRS, STAGES, lambda name, port: envoy(machine, options, name, STAGES, port, upstream, core)),
        ]:
            port = ports.pop()
            if options.only not in name:
                continue
            process = start(name, port)
            url = f"http://127.0.0.1:{port}/graphql"
            machine.wait_for(process, port, "/graphql")
            check(name, url, stages)
            rig.wrk(url, 1, other)
            subjects[name] = (process, url, [])
        for number in range(options.rounds):
            for name, (process, url, samples) in subjects.items():
                before = rig.cpu_seconds(process)
                result = rig.wrk(url, options.seconds, other)
                used = rig.cpu_seconds(process) - before
                errors = {kind: result[kind] for kind in ("status", "connect", "read", "write", "timeout") if result[kind]}
                if errors:
                    sys.exit(f"{name}: some requests failed: {errors}")
                samples.append({
                    "microseconds": used / result["requests"] * 1e6, "busy": used / result["seconds"],
                    "rate": result["requests"] / result["seconds"], "p99": result["p99"]})
            print(f"== round {number + 1} of {options.rounds}", file=sys.stderr)
    figures = {}
    for name, (_, _, samples) in subjects.items():
        costs = [sample["microseconds"] for sample in samples]
        figures[name] = {
            "median": statistics.median(costs), "least": min(costs), "most": max(costs),
            "busy": statistics.median(sample["busy"] for sample in samples),
            "rate": statistics.median(sample["rate"] for sample in samples),
            "p99": statistics.median(sample["p99"] for sample in samples)}
    print(f"{'µs of CPU a request':<30}{'median':>9}{'least':>9}{'most':>9}{'core busy':>11}{'requests/s':>12}{'p99, ms':>9}")
    for name, figure in figures.items():
        print(f"{name:<30}{figure['median']:>9.1f}{figure['least']:>9.1f}{figure['most']:>9.1f}{figure['busy']:>11.0%}"
              f"{figure['rate']:>12.0f}{figure['p99']:>9.2f}")
    ratio = None
    if OURS in figures and THEIRS in figures:
        ratio = figures[OURS]["median"] / figures[THEIRS]["median"]
        print(f"{OURS}, beside {THEIRS}: {ratio:.2f}; the aim is {AIM}, and it is {'met' if ratio <= AIM else 'not met'}")
    if options.json:
        options.json.write_text(json.dumps(
            {"seconds": options.seconds, "rounds": options.rounds, "ratio": ratio, "aim": AIM, "figures": figures,
             "samples": {name: samples for name, (_, _, samples) in subjects.items()}}, indent=2) + "\n")


main()
