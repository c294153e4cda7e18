"""How the measured programs are started: carabiner serve, nginx and Envoy, each as a proxy in front of one upstream."""

import dataclasses
import json
import pathlib
import typing

import traffic

STAGES = [f"stage-{number}" for number in range(1, 11)]
# The target: at most half the cost of Envoy with ten filters that do the same.
PLAIN, OURS, THEIRS, AIM = "carabiner, no stages", "carabiner, ten C stages", "Envoy, ten dynamic modules", 0.5
# The same stages in a worker.
ONE, ONE_ISOLATED, TEN_ISOLATED = "carabiner, one C stage", "carabiner, one in a worker", "carabiner, ten in a worker"
ENVOY_TYPES = "type.googleapis.com/envoy.extensions"


@dataclasses.dataclass(frozen=True)
class Wiring:
    """The protocols on both sides of a proxy."""

    # The folder of a certificate, for TLS on both sides.
    tls: pathlib.Path | None = None
    # Whether clients use HTTP/2. The upstream gets HTTP/1.1.
    http2: bool = False
    # The headers of clients that the upstream needs, beside those of the stages.
    forwarded: tuple = ()
    # The number of responses that do not end. Proxies pass their parts on at once.
    streams: int = 0

    @property
    def scheme(self):
        return "https" if self.tls else "http"


@dataclasses.dataclass(frozen=True)
class Program:
    """A measured program. start(machine, wiring, port, upstream, core) starts it."""

    name: str
    stages: list
    start: typing.Callable


def carabiner(executable, plugins, stages, plugin="headers.so", isolation=None):
    """The gateway. Its other built-in stages have default settings."""
    def start(machine, wiring, port, upstream, core=None):
        manifest = machine.folder / f"carabiner-{len(stages)}{'-worker' if isolation else ''}.yaml"
        key = f", isolation: {isolation}" if isolation else ""
        entries = "".join(f"  - {{name: {stage}, file: {plugins}/{plugin}{key}}}\n" for stage in stages)
        manifest.write_text(
            f"carabiner: 1\nserve: {{return-headers: [x-*], forward-headers: {json.dumps(wiring.forwarded)}}}\n"
            + (f"settings: {{ca-file: {wiring.tls}/certificate.pem}}\n" if wiring.tls else "")
            + (f"plugins:\n{entries}chain: {{http: [{', '.join(stages)}, response-code]}}\n" if stages else ""))
        command = [
            executable, "serve", "-m", manifest, "--listen", f"127.0.0.1:{port}", "--endpoint",
            f"{wiring.scheme}://127.0.0.1:{upstream}/graphql"]
        if wiring.tls:
            command += ["--tls-certificate", wiring.tls / "certificate.pem", "--tls-key", wiring.tls / "key.pem"]
        if wiring.http2:
            command += ["--http2"]
        if wiring.streams:
            # Heartbeats would count as part of the events. Peers send none.
            command += ["--maximum-operations", 2 * wiring.streams, "--heartbeat", "10m"]
        return machine.start(manifest.stem, command, core, CARABINER_LOG="error")

    return start


def nginx(machine, wiring, port, upstream, core=None):
    """nginx as a proxy with persistent connections."""
    tls = wiring.tls
    listen = f"listen 127.0.0.1:{port} backlog=1024{' ssl' if tls else ''}{' http2' if wiring.http2 else ''};"
    server = "" if not tls else f"""
    ssl_certificate {tls}/certificate.pem; ssl_certificate_key {tls}/key.pem; ssl_protocols TLSv1.3;"""
    location = "" if not tls else f"""
      proxy_ssl_protocols TLSv1.3; proxy_ssl_verify on; proxy_ssl_trusted_certificate {tls}/certificate.pem;
      proxy_ssl_name localhost;"""
    if wiring.streams:
        location += " proxy_buffering off; proxy_read_timeout 1h;"
    return traffic.nginx(machine, "nginx", f"""
master_process off;
events {{ worker_connections {1024 + 3 * wiring.streams}; }}
http {{
  access_log off; keepalive_requests 100000000; proxy_buffers 32 8k;
  client_body_temp_path nginx.body; proxy_temp_path nginx.proxy;
  upstream up {{ server 127.0.0.1:{upstream}; keepalive 64; keepalive_requests 100000000; }}
  server {{
    {listen}{server}
    location / {{ proxy_pass {wiring.scheme}://up; proxy_http_version 1.1; proxy_set_header Connection "";{location} }}
  }}
}}
""", core)


def envoy(executable, plugins, filters):
    """Envoy with one worker. Features besides proxying are off where possible."""
    def address(number):
        return {"socket_address": {"address": "127.0.0.1", "port_value": number}}

    def secured(kind, context):
        context["tls_params"] = {"tls_minimum_protocol_version": "TLSv1_3", "tls_maximum_protocol_version": "TLSv1_3"}
        return {"transport_socket": {"name": "tls", "typed_config": {
            "@type": f"{ENVOY_TYPES}.transport_sockets.tls.v3.{kind}TlsContext", "common_tls_context": context}}}

    def start(machine, wiring, port, upstream, core=None):
        modules = [
            {"name": stage, "typed_config": {
                "@type": f"{ENVOY_TYPES}.filters.http.dynamic_modules.v3.DynamicModuleFilter",
                "dynamic_module_config": {"name": "headers"}, "filter_name": stage}}
            for stage in filters
        ]
        router = {"name": "router", "typed_config": {
            "@type": f"{ENVOY_TYPES}.filters.http.router.v3.Router", "suppress_envoy_headers": True, "dynamic_stats": False}}
        route = {"cluster": "up", **({"timeout": "0s"} if wiring.streams else {})}
        connections = {
            "@type": f"{ENVOY_TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "in",
            "codec_type": "HTTP2" if wiring.http2 else "HTTP1", "generate_request_id": False, "http_filters": modules + [router],
            "route_config": {"virtual_hosts": [
                {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": route}]}]}}
        chain = {"filters": [{"name": "http", "typed_config": connections}]}
        cluster = {
            "name": "up", "type": "STATIC", "load_assignment": {
                "cluster_name": "up", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address(upstream)}}]}]}}
        if wiring.tls:
            certificate, key = ({"filename": str(wiring.tls / name)} for name in ("certificate.pem", "key.pem"))
            chain |= secured("Downstream", {"tls_certificates": [{"certificate_chain": certificate, "private_key": key}]})
            cluster |= secured("Upstream", {"validation_context": {
                "trusted_ca": certificate,
                "match_typed_subject_alt_names": [{"san_type": "IP_ADDRESS", "matcher": {"exact": "127.0.0.1"}}]}})
        if wiring.streams:
            most = 2 * wiring.streams
            cluster["circuit_breakers"] = {
                "thresholds": [{"max_connections": most, "max_pending_requests": most, "max_requests": most}]}
        configuration = {"static_resources": {
            "listeners": [{"address": address(port), "filter_chains": [chain]}], "clusters": [cluster]}}
        path = machine.folder / f"envoy-{len(filters)}.json"
        path.write_text(json.dumps(configuration))
        return machine.start(
            path.stem, [executable, "-c", path, "--concurrency", "1", "--use-dynamic-base-id", "-l", "warn"], core,
            ENVOY_DYNAMIC_MODULES_SEARCH_PATH=str(plugins))

    return start


def isolated_programs(executable, plugins, plugin):
    """The gateway with stages in process, and with the same stages in one worker."""
    def program(name, count, isolation=None):
        return Program(name, STAGES[:count], carabiner(executable, plugins, STAGES[:count], plugin, isolation))

    isolation = "{mode: worker, group: stages}"
    return [
        program(PLAIN, 0), program(ONE, 1), program(ONE_ISOLATED, 1, isolation), program(OURS, 10),
        program(TEN_ISOLATED, 10, isolation)]


def programs(executable, envoy_executable, plugins):
    """All programs, in the order of the table. Without a file of Envoy, Envoy is left out."""
    every = [
        Program(PLAIN, [], carabiner(executable, plugins, [])),
        Program(OURS, STAGES, carabiner(executable, plugins, STAGES)), Program("nginx", [], nginx)]
    if envoy_executable:
        every += [
            Program("Envoy, no filters", [], envoy(envoy_executable, plugins, [])),
            Program(THEIRS, STAGES, envoy(envoy_executable, plugins, STAGES))]
    return every
