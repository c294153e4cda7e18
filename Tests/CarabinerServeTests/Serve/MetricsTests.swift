import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerGateway

/// The metrics of a gateway, as Prometheus reads them.
@Suite("carabiner serve: metrics")
struct MetricsTests {
  private static let manifest = """
    carabiner: 1
    serve: {cache-policy: cacheFirst}
    plugins: [{name: stamp, file: plugin.so, on-fault: open-after-3}]
    chain: {cache: [store], http: [stamp, response-code]}

    """

  @Test("Prometheus reads all metrics of a busy gateway, and the figures are right")
  func metrics() async throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    let plugin = try await CompiledFixture("stamp")
    _ = try folder.write(Self.manifest.replacing("plugin.so", with: plugin.path), to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint, ["--time-stages", "1"])
    let empty = try await ScrapedMetrics(gateway)
    #expect(empty.problems == [])
    for _ in 0..<3 { #expect(try gateway.query("query Title { book(id: 1) { title } }").status == 200) }
    #expect(try gateway.query("query Broken { failing }").status == 200)
    #expect(try RawAnswer(gateway.endpoint, body: "{").status == 400)
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped.problems == [])
    for (series, value) in [
      ("carabiner_requests_total{status=200}", 4), ("carabiner_requests_total{status=400}", 1),
      ("carabiner_request_duration_seconds_count{}", 5),
      ("carabiner_operations_total{outcome=succeeded,type=query}", 3),
      ("carabiner_operations_total{outcome=errors,type=query}", 1),
      ("carabiner_operations_total{outcome=failed,type=mutation}", 0),
      ("carabiner_results_total{source=server}", 2), ("carabiner_results_total{source=cache}", 2),
      ("carabiner_cache_reads_total{result=hit}", 2), ("carabiner_cache_reads_total{result=miss}", 2),
      ("carabiner_generation{}", 1), ("carabiner_generations_alive{state=serving}", 1),
      ("carabiner_generations_alive{state=retired}", 0), ("carabiner_operations_running{}", 0),
      ("carabiner_plugin_calls_total{plugin=stamp}", 2), ("carabiner_plugin_calls_running{plugin=stamp}", 0),
      ("carabiner_plugin_faults_total{plugin=stamp}", 0), ("carabiner_plugin_failures_total{plugin=stamp}", 0),
      ("carabiner_plugin_breaker_state{plugin=stamp,state=closed}", 1),
      ("carabiner_plugin_breaker_state{plugin=stamp,state=open}", 0),
      ("carabiner_operations_timed_total{}", 4),
      ("carabiner_stage_duration_seconds_count{hook=on_request,plugin=stamp,stage=http}", 2),
      ("carabiner_stage_duration_seconds_count{hook=on_head,plugin=stamp,stage=http}", 2),
      ("carabiner_stage_duration_seconds_count{hook=send,plugin=upstream,stage=transport}", 2),
      ("carabiner_upstream_connections_opened_total{}", 1), ("carabiner_upstream_connections{state=idle}", 1),
      ("carabiner_upstream_connections{state=active}", 0), ("carabiner_upstream_requests_total{connection=new}", 1),
      ("carabiner_upstream_requests_total{connection=kept}", 1), ("carabiner_upstream_requests_running{}", 0),
    ] { #expect(scraped[series] == Double(value), "\(series)") }
    #expect(scraped["process_resident_memory_bytes{}"] ?? 0 > 1_000_000)
    #expect(abs((scraped["process_start_time_seconds{}"] ?? 0) - Date().timeIntervalSince1970) < 600)
    let time = scraped["carabiner_stage_duration_seconds_sum{hook=on_request,plugin=stamp,stage=http}"]
    #expect(time ?? 0 > 0 && time ?? 1 < 1)
  }

  @Test("stages of every nth operation are timed, or of none if the interval is 0", arguments: [(3, 2), (0, 0)])
  func sampling(_ interval: Int, _ timed: Int) async throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint, ["--time-stages", "\(interval)"])
    for _ in 0..<4 { _ = try gateway.query("{ __typename }") }
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped["carabiner_operations_timed_total{}"] == Double(timed))
    #expect(scraped.series("carabiner_stage_duration_seconds").isEmpty == (timed == 0))
  }

  @Test("status and metrics show the cancelled hooks that a plugin has not resumed, and the memory kept for them")
  func quarantine() async throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    let said = try NamedPipe(folder.file("said"))
    let resume = try NamedPipe(folder.file("go"))
    let plugin = try await CompiledFixture("late")
    _ = try folder.write(
      """
      carabiner: 1
      settings: {cancel-grace: 10ms}
      plugins:
        - name: late
          file: \(plugin.path)
          config: {hook: http.on_request, folder: \(folder.file(""))}
          timeout: 20ms
          on-fault: skip
      chain: {http: [late, response-code]}

      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint)
    #expect(try await gateway.status()["quarantined"] == ["calls": 0, "bytes": 0])
    #expect(try gateway.query("{ __typename }").status == 200)
    #expect(try await said.line() == "pending")
    let status = try await gateway.status()["quarantined"]
    #expect(status?["calls"] == 1 && status?["bytes"]?.double ?? 0 > 0, "\(String(describing: status))")
    #expect(try await gateway.ask("status").output.contains("quarantined  1 cancelled hooks that have not resumed"))
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped.problems == [])
    #expect(scraped["carabiner_quarantined_calls{}"] == 1)
    #expect(scraped["carabiner_quarantined_bytes{}"] == status?["bytes"]?.double)
    for answer in ["same", "resume -4"] {
      try resume.send("continue")
      #expect(try await said.line().contains(answer))
    }
    #expect(try await gateway.status()["quarantined"] == ["calls": 0, "bytes": 0])
  }

  @Test("a plugin that fails, and a retry, are counted where they happened")
  func failures() async throws {
    let plugin = try await CompiledFixture("stamp", defining: ["UP_RETRIES"])
    let answers = Mutex(["503 Service Unavailable", "418 I'm a teapot", "200 OK"])
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        let status = answers.withLock { $0.removeFirst() }
        try peer.respond(status, headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
    let folder = try StoreFolder()
    _ = try folder.write(
      """
      carabiner: 1
      upstreams: {main: {endpoints: ["\(upstream.origin)/graphql"], retry: {attempts: 1}}}
      plugins: [{name: stamp, file: \(plugin.path)}]
      chain: {http: [response-code, stamp]}

      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: nil)
    // Status 503 is retried, and 418 is a failure.
    #expect(try gateway.query("{ a }").status == 500)
    #expect(try gateway.query("{ a }").status == 200)
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped.problems == [])
    #expect(scraped["carabiner_plugin_failures_total{plugin=stamp}"] == 1)
    #expect(scraped["carabiner_plugin_retries_total{plugin=stamp}"] == 1)
    #expect(scraped["carabiner_operation_retries_total{}"] == 1)
    #expect(scraped["carabiner_operations_total{outcome=failed,type=query}"] == 1)
  }

  @Test(
    "label values and help may hold anything", arguments: ["plain", #"a"b"#, #"a\b"#, "a\nb", "a}b{c=\"d\"} 1\n# TYPE x y", "ü"])
  func escaping(_ value: String) async throws {
    var text = PrometheusText()
    text.family("carabiner_test", .gauge, "help with \(value)")
    text.sample("carabiner_test", [("label", value)], 1.5)
    let scraped = try await ScrapedMetrics(text: text.text)
    #expect(scraped.problems == [])
    #expect(scraped.series("").count == 1)
    #expect(scraped["carabiner_test{label=\(value)}"] == 1.5)
  }
}
