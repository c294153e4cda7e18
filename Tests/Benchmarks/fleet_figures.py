"""Measure a fleet on this machine: Redis, statements, and gateways that take manifests from etcd.

Prints, one after the other:

  - Redis: the time of writes and reads of 10 and 1,000 records, and the processor time of the server for each.
  - A Redis that is silent: the reads that are delayed, and the longest delay.
  - The verification of a statement with Ed25519 and with ECDSA.
  - A fleet of 12 gateways: the time from the put of a manifest until each one serves it, and the nodes that a bad plugin reaches.
  - A simulated fleet of 10,000 nodes: the nodes that a bad plugin reaches.

A run takes about five minutes. The times of a debug build say nothing about a release.
"""

import contextlib
import json
import statistics
import subprocess
import time
import urllib.request

import fleet
from machine import Failure, free_ports
from rig import Rig, add_program, at_least

MANIFEST = """carabiner: 1
endpoint: http://127.0.0.1:{upstream}/graphql
fleet: {{stages: [10%, 50%, 100%], hold: 2s, halt-after: 1}}
plugins: [{{name: stamp, file: {plugin}}}]
chain: {{http: [stamp, response-code]}}
"""
PUTS = 10


def tool(programs, *words):
    done = subprocess.run([programs / "FleetFigures", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"FleetFigures {words[0]} ended with status {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def measure_redis(machine, programs, quick):
    port, = free_ports(1)
    redis = fleet.start_redis(machine, port, "redis-figures")
    url = f"redis://127.0.0.1:{port}"
    store = tool(programs, "store", url, "--rounds", 200 if quick else 2000)
    return store, tool(programs, "silence", url, redis.pid, "--seconds", 1 if quick else 3)


def measure_verification(programs, folder, plugin, quick):
    found = {}
    for kind in ("ed25519", "ecdsa"):
        key, file = folder / kind, folder / f"{kind}.so"
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "", "-f", key], check=True)
        file.write_bytes(plugin.read_bytes())
        statement = subprocess.run(
            [programs / "carabiner", "release", "statement", file, "--kind", "plugin", "--name", "stamp", "--serial", "1",
             "--expires", "90d"], check=True, capture_output=True).stdout
        (folder / "statement").write_bytes(statement)
        (folder / "statement.sig").unlink(missing_ok=True)
        subprocess.run(
            ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "carabiner-release", folder / "statement"], check=True,
            capture_output=True)
        (folder / f"{kind}.so.release").write_bytes(statement + (folder / "statement.sig").read_bytes())
        public = " ".join((folder / f"{kind}.pub").read_text().split()[:2])
        trust = folder / f"{kind}.trust"
        trust.write_text(f'plugin:stamp namespaces="carabiner-release" {public}\n')
        trust.chmod(0o600)
        found[kind] = tool(programs, "verify", trust, file, "--rounds", 500 if quick else 5000)["wall"]
    return found


def serving_times(keys, names, manifest, since):
    """The seconds from a moment until each node has reported that it serves a manifest. A report takes a put and an event."""
    found = {}

    def all_serve(_):
        for name in names:
            if name not in found and keys.node(name).get("serving") == manifest:
                found[name] = time.time() - since
        return len(found) == len(names)

    keys.wait("all nodes serve it", all_serve)
    return found.values()


def put(port, key, value):
    """Puts a key into etcd. Returns when the request began."""
    body = json.dumps({"key": fleet.encoded(key), "value": fleet.encoded(value)}).encode()
    begin = time.time()
    urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/v3/kv/put", body), timeout=30).read()
    return begin


def measure_fleet(machine, programs, plugins, count, quick):
    names = tuple(f"node-{number}" for number in range(1, count + 1))
    stand = fleet.Fleet(machine, programs / "carabiner", plugins, Quiet(), names, MANIFEST)
    with contextlib.closing(stand.keys):
        stand.manifest(plugins[0])
        stand.run("push", "-m", "shop.yaml")
        for name in names:
            stand.start_node(name)
        stand.wait_for_nodes(*names)
        stand.keys.wait("all nodes are in the fleet", lambda keys: all(f"nodes/{name}" in keys for name in names))
        etcd = int(stand.address.split(":")[2].split("/")[0])
        times = []
        for number in range(2 if quick else PUTS):
            stand.manifest(plugins[(number + 1) % 2])
            text = (machine.folder / "shop.yaml").read_text()
            begin = put(etcd, f"{fleet.PREFIX}/stable", text)
            times += serving_times(stand.keys, names, fleet.digest(text.encode()), begin)
        candidate = stand.manifest(plugins[2])
        stand.run("push", "-m", "shop.yaml")
        stand.keys.wait("the candidate is halted", lambda keys: f"halt/{candidate}" in keys)
        # A node that had begun may still report.
        time.sleep(3)
        exposed = [key for key in stand.keys.values if key.startswith(f"taken/{candidate}/")]
        return {"put to serving": sorted(times), "exposed": len(exposed), "nodes": count}


def simulate(programs, folder, count):
    file = folder / "simulation.json"
    subprocess.run(
        [programs / "SimulateFleet", "--nodes", str(count), "--plugin", "crashes", "--json", file], check=True,
        stdout=subprocess.DEVNULL)
    return max(row["exposed"] for row in json.loads(file.read_text()))


class Quiet:
    """In place of the timeline of the demonstration."""

    def say(self, _):
        pass

    show = say


def add_options(parser):
    parser.add_argument("--nodes", type=at_least(3, 64), default=12, metavar="N", help="the gateways, 3 to 64 (default: 12)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    add_program(parser)


def line(label, text):
    print(f"{label:<72}{text:>24}", flush=True)


def run(rig: Rig):
    nodes, quick = rig.options.nodes, rig.options.quick
    programs = rig.program("carabiner", "FleetFigures", "SimulateFleet").parent
    plugins = [rig.stamp("stamp-1"), rig.stamp("stamp-2", 'STAMP="two"'), rig.stamp("stamp-3", "CREATE_CRASHES")]
    store, silence = measure_redis(rig, programs, quick)
    print("Redis, records of 7 fields: us of the caller (median) / us of the server")
    for name, figure in store.items():
        line(f"  {name}", f"{figure['wall']:,.0f} / {figure['server']:,.0f}")
    line(
        "A silent Redis: reads, those above 5 ms, the longest in ms",
        f"{silence['reads']} / {silence['delayed']} / {silence['longest']:.1f}")
    verification = measure_verification(programs, rig.folder, plugins[0], quick)
    line("Verification of a statement, us: Ed25519 / ECDSA", " / ".join(f"{time:.0f}" for time in verification.values()))
    found = measure_fleet(rig, programs, plugins, nodes, quick)
    times = [1000 * time for time in found["put to serving"]]
    line(
        f"From a put until a gateway serves it, {nodes} gateways, ms: median / worst",
        f"{statistics.median(times):.0f} / {max(times):.0f}")
    line(f"Gateways of {nodes} that a plugin reached which crashes", str(found["exposed"]))
    simulated = 1000 if quick else 10_000
    exposed = simulate(programs, rig.folder, simulated)
    line(f"Gateways of {simulated:,} simulated ones that it reaches", str(exposed))
    return {
        "store": store, "silence": silence, "verification": verification, "fleet": found,
        "simulated": {"nodes": simulated, "exposed": exposed}}, []
