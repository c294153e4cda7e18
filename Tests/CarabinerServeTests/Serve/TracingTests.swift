import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The trace data that a gateway sends to a collector and to its upstream.
@Suite("carabiner serve: traces")
struct TracingTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"
  private static let manifest = """
    carabiner: 1
    serve: {forward-headers: [x-tenant]}
    plugins: [{name: one, file: stamp.so}, {name: two, file: stamp.so}]
    chain: {http: [one, two, response-code]}

    """
  private static let answer = #"{"data":{"a":1}}"#

  private let collector: Collector
  private let upstream: ScriptedServer
  private let folder: StoreFolder

  init() throws {
    collector = try Collector()
    upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: Self.answer)
      })
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nbuilt-ins: {max-retry: {maximum-retries: 0}}\n", to: "chain.yaml")
  }

  private func gateway(
    _ arguments: [String] = [], endpoint: String? = nil, environment: [String: String] = [:]
  ) throws -> ServeProcess {
    try ServeProcess(
      folder, endpoint: endpoint ?? "\(upstream.origin)/graphql", ["--otlp", collector.origin] + arguments,
      environment: environment)
  }

  private static func parent(_ flags: String) -> [String] {
    ["traceparent: 00-\(trace)-\(span)-\(flags)", "tracestate: other=1, more=2"]
  }

  private func end(_ gateway: ServeProcess) async throws {
    let status = try await offThePool { gateway.end(with: SIGTERM) }
    #expect(status == 0, "\(gateway.errors)")
  }

  // MARK: Recorded

  @Test("a traced request through two plugins has a span for each time one works, and one for the transfer")
  func whole() async throws {
    let place = try FixturePlugin.Folder()
    let plugin = try await FixturePlugin.compile("stamp", into: place)
    try FileManager.default.copyItem(atPath: plugin, toPath: folder.file("stamp.so"))
    _ = try folder.write(Self.manifest, to: "chain.yaml")
    let gateway = try gateway(
      environment: ["OTEL_SERVICE_NAME": "shop", "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=a%20b,x-team=t"])
    let answer = try RawAnswer(
      "\(gateway.endpoint)?from=test", body: #"{"query":"query Title { a }"}"#,
      headers: Self.parent("01") + ["User-Agent: tester"])
    #expect(answer.text == Self.answer)
    try await end(gateway)
    // Sent at shutdown, with the configured headers.
    #expect(collector.requests.map(\.target) == ["/v1/traces"])
    #expect(collector.requests.first?.header("x-api-key") == "a b")
    #expect(collector.requests.first?.header("x-team") == "t")
    let spans = try await collector.spans()
    #expect(spans.allSatisfy { $0.trace == Self.trace && $0.state == "other=1,more=2" && $0.scope == "carabiner" })
    #expect(spans.allSatisfy { $0.resource["service.name"] == "shop" })
    #expect(Set(spans.map(\.id)).count == spans.count)
    #expect(!spans.contains { $0.status == "STATUS_CODE_ERROR" }, "\(spans)")

    let request = try #require(spans.first { $0.kind == "SPAN_KIND_SERVER" })
    #expect(request.name == "POST /graphql" && request.parent == Self.span && request.flags == 0x301)
    let expected: [String: CollectedSpan.Value] = [
      "http.request.method": "POST", "http.response.status_code": "200", "http.route": "/graphql", "url.path": "/graphql",
      "url.scheme": "http", "server.address": "127.0.0.1", "server.port": .text("\(gateway.port)"),
      "client.address": "127.0.0.1", "user_agent.original": "tester", "network.protocol.version": "1.1",
      "graphql.operation.name": "Title", "graphql.operation.type": "query", "carabiner.generation": "1",
    ]
    #expect(request.attributes == expected)

    let inner = spans.filter { $0.id != request.id }
    #expect(inner.allSatisfy { $0.parent == request.id && $0.flags == 0x101 && $0.lies(within: request) }, "\(spans)")
    let transfer = try #require(inner.first { $0.kind == "SPAN_KIND_CLIENT" })
    #expect(transfer.name == "POST" && transfer.attributes["http.response.status_code"] == "200")
    #expect(transfer.attributes["url.full"] == .text("\(upstream.origin)/graphql"))
    #expect(transfer.attributes["server.address"] == "127.0.0.1")

    // In the order of their starts: from the outermost plugin inwards, over the network, and back.
    let order = spans.filter { $0.attributes["carabiner.plugin"] != nil || $0.id == transfer.id }
      .sorted { (UInt64($0.start) ?? 0, $0.name) < (UInt64($1.start) ?? 0, $1.name) }
    #expect(order.map(\.name) == ["one on_request", "two on_request", "POST", "two on_head", "one on_head"])
    for plugin in order where plugin.id != transfer.id {
      #expect(plugin.attributes["carabiner.generation"] == "1" && plugin.attributes["carabiner.outcome"] == "CONTINUE")
      #expect(plugin.attributes["carabiner.kind"] == "http")
      #expect(plugin.name == "\(Self.text(plugin, "carabiner.plugin")) \(Self.text(plugin, "carabiner.hook"))")
    }
    // The built-in stages have spans too, but they are not plugins.
    #expect(inner.contains { $0.attributes["carabiner.stage"] != nil && $0.attributes["carabiner.plugin"] == nil })

    let sent = try #require(upstream.requests.first)
    #expect(sent.header("traceparent") == "00-\(Self.trace)-\(transfer.id)-01")
    #expect(sent.header("tracestate") == "other=1,more=2")
  }

  private static func text(_ span: CollectedSpan, _ name: String) -> String {
    if case .text(let text) = span.attributes[name] { text } else { "" }
  }

  @Test("a trace that begins here has a root, and the operations of a list have a span each")
  func root() async throws {
    let gateway = try gateway(["--trace-share", "100%", "--maximum-batch", "2"])
    let answer = try RawAnswer(gateway.endpoint, body: #"[{"query":"query A { a }"},{"query":"query B { a }"}]"#)
    #expect(answer.status == 200)
    try await end(gateway)
    let spans = try await collector.spans()
    let root = try #require(spans.first { $0.parent.isEmpty })
    #expect(root.kind == "SPAN_KIND_SERVER" && root.flags == 0x101)
    let parts = spans.filter { $0.parent == root.id }
    #expect(Set(parts.map(\.name)) == ["query A", "query B"])
    #expect(parts.allSatisfy { $0.lies(within: root) && $0.attributes["graphql.operation.type"] == "query" })
    let transfers = spans.filter { $0.kind == "SPAN_KIND_CLIENT" }
    #expect(Set(transfers.map(\.parent)) == Set(parts.map(\.id)))
    #expect(Set(upstream.requests.map { $0.header("traceparent") }) == Set(transfers.map { "00-\(root.trace)-\($0.id)-01" }))
  }

  @Test("spans show where an error occurred and of which kind it is")
  func failures() async throws {
    let gateway = try gateway(endpoint: "http://127.0.0.1:9/graphql")
    #expect(try gateway.query("query Lost { a }", headers: Self.parent("01")).status == 502)
    #expect(try gateway.query("{", headers: Self.parent("01")).status == 200)
    try await end(gateway)
    let spans = try await collector.spans()
    let requests = spans.filter { $0.kind == "SPAN_KIND_SERVER" }
    let lost = try #require(requests.first { $0.attributes["http.response.status_code"] == "502" })
    #expect(lost.attributes["error.type"] == "UPSTREAM_UNREACHABLE" && lost.status == "STATUS_CODE_ERROR")
    let refused = try #require(
      requests.first { $0.attributes["http.response.status_code"] == "200" && $0.attributes["error.type"] != nil })
    #expect(refused.attributes["error.type"] == "GRAPHQL_PARSE_FAILED" && refused.status == "STATUS_CODE_UNSET")
    let transfer = try #require(spans.first { $0.kind == "SPAN_KIND_CLIENT" })
    #expect(transfer.attributes["error.type"] == "cannotConnect" && transfer.status == "STATUS_CODE_ERROR")
    #expect(transfer.parent == lost.id && transfer.lies(within: lost))
  }

  @Test("a secret of the manifest is in no span, even if an error contains a URL")
  func secrets() async throws {
    _ = try folder.write("carabiner: 1\nendpoint: \"http://127.0.0.1:9/${env:GATEWAY_KEY}\"\n", to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: nil, ["--otlp", collector.origin], environment: ["GATEWAY_KEY": "hunter2hunter2"])
    _ = try gateway.query("{ a }", headers: Self.parent("01"))
    try await end(gateway)
    #expect(try await collector.spans().contains { $0.kind == "SPAN_KIND_CLIENT" })
    #expect(!collector.requests.contains { String(decoding: $0.body, as: UTF8.self).contains("hunter2") })
  }

  // MARK: Not recorded

  @Test(
    "a request that is not recorded exports no spans, and its trace continues unsampled",
    arguments: [
      (["--otlp", "collector"], "01", "always_off", "00"), (["--otlp", "collector"], "00", "", "00"),
      (["--otlp", "collector"], "zz", "", nil), ([], "01", "", nil),
    ] as [([String], String, String, String?)])
  func unrecorded(_ otlp: [String], _ flags: String, _ sampler: String, _ passedOn: String?) async throws {
    let gateway = try ServeProcess(
      folder, endpoint: "\(upstream.origin)/graphql", otlp.map { $0 == "collector" ? collector.origin : $0 },
      environment: ["OTEL_TRACES_SAMPLER": sampler])
    #expect(try gateway.query("{ a }", headers: Self.parent(flags)).text == Self.answer)
    #expect(try gateway.query("{ a }").text == Self.answer)
    try await end(gateway)
    #expect(collector.requests.isEmpty)
    let sent = upstream.requests
    #expect(sent.first?.header("traceparent") == passedOn.map { "00-\(Self.trace)-\(Self.span)-\($0)" })
    #expect(sent.first?.header("tracestate") == passedOn.map { _ in "other=1,more=2" })
    #expect(sent.count == 2 && sent.last?.header("traceparent") == nil)
  }

  @Test("if a collector does not answer, spans are dropped and counted, and no request fails")
  func lostCollector() async throws {
    let silent = try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
    let gateway = try ServeProcess(
      folder, endpoint: "\(upstream.origin)/graphql", ["--otlp", silent.origin, "--trace-share", "1"],
      environment: [
        "OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "4", "OTEL_EXPORTER_OTLP_TIMEOUT": "60000",
      ])
    for _ in 0..<8 { #expect(try gateway.query("{ a }").text == Self.answer) }
    func metric(_ name: String) async throws -> Int {
      let run = try await ToolRun(
        URL(filePath: "/usr/bin/curl"), ["-sS", "--unix-socket", gateway.socket, "http://x/metrics"])
      let line = run.output.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
      return try #require(line.flatMap { Int($0.dropFirst(name.count + 1)) }, "\(run.output)")
    }
    #expect(try await metric("carabiner_trace_spans_total{outcome=\"dropped\"}") > 0)
    #expect(try await metric("carabiner_trace_spans_total{outcome=\"exported\"}") == 0)
    #expect(try await metric("carabiner_trace_spans_waiting") <= 8)
  }

  // MARK: Settings

  @Test(
    "an invalid setting is refused at the start, with a hint",
    arguments: [
      (["--otlp", "nowhere"], [:], "--otlp takes the http or https URL"),
      (["--trace-share", "1%"], [:], "give --otlp URL"),
      (["--otlp", "http://127.0.0.1:9", "--trace-share", "2"], [:], "a share is a number"),
      (
        [], ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"], "usually 4318"
      ),
    ] as [([String], [String: String], String)])
  func refusals(_ arguments: [String], _ environment: [String: String], _ message: String) async throws {
    let run = try await CommandRun(
      ["serve", "-m", folder.file("chain.yaml"), "--endpoint", upstream.origin, "--listen", "127.0.0.1:0"] + arguments,
      environment: environment)
    #expect(run.status == 2 && run.errors.contains(message), "\(run.errors)")
  }
}
