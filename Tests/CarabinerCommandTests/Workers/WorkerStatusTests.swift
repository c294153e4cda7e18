import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The figures of workers of a running gateway: `carabiner status`, metrics and log.
@Suite("Workers in carabiner status, metrics and log")
struct WorkerStatusTests {
  private let upstream: DemoServerProcess
  private let folder: FixturePlugin.Folder

  init() throws {
    upstream = try DemoServerProcess()
    folder = try FixturePlugin.Folder()
  }

  private func gateway(
    _ actions: String, isolation: String = "{mode: worker, group: signing, lanes: 2}", through prefix: [String] = []
  ) async throws -> ServeProcess {
    // With bytes of its own: the name of the file is in the log.
    let plugin = try await FixturePlugin.compile("watched", into: folder, name: "watched.so")
    let store = try StoreFolder()
    _ = try store.write(
      """
      carabiner: 1
      plugins:
        - {name: hmac, file: \(plugin), config: {do: [\(actions)]}, isolation: \(isolation)}
        - {name: tokens, file: \(plugin), config: {do: []}, isolation: \(isolation)}
      chain: {graphql: [hmac, tokens]}

      """, to: "chain.yaml")
    return try ServeProcess(store, endpoint: upstream.endpoint, through: prefix)
  }

  private func worker(_ gateway: ServeProcess) async throws -> JSONValue {
    try #require(try await gateway.status()["workers"]?[0])
  }

  /// Waits until the text is in the log. A line may come after the response.
  private func line(_ text: String, of gateway: ServeProcess) async throws -> String {
    for _ in 0..<1000 {
      if let line = gateway.errors.split(separator: "\n").first(where: { $0.contains(text) }) { return String(line) }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("no line with \(text): \(gateway.errors)")
    return ""
  }

  @Test(
    "status shows process, state, entries, lanes, memory, time and refused calls, and the log has each call once",
    .rule("worker.70", "worker.62"))
  func running() async throws {
    let gateway = try await gateway("socket")
    for _ in 0..<3 { #expect(try gateway.query("{ __typename }").status == 200) }
    let refusal = try await line("a plugin called socket, which workers refuse", of: gateway)
    #expect(refusal.contains("worker=signing") && refusal.contains("number="), "\(refusal)")
    #expect(refusal.contains(/address=libc[^ ]*\+0x[0-9a-f]+/), "\(refusal)")
    #expect(gateway.errors.split(separator: "\n").count { $0.contains("a plugin called socket") } == 1)
    let worker = try await worker(gateway)
    #expect(worker["group"] == "signing" && worker["state"] == "up" && worker["generation"] == 1, "\(worker)")
    #expect(worker["entries"] == ["hmac", "tokens"] && worker["lanes"] == 2)
    #expect(worker["underWay"] == 0 && worker["waiting"] == 0 && worker["restarts"] == 0 && worker["lastEnd"] == .null)
    #expect(worker["refusedCalls"] == ["socket": 3])
    let process = try #require(worker["process"]?.int)
    #expect(kill(Int32(process), 0) == 0)
    #expect(worker["memoryLimit"] == 268_435_456)
    let memory = try #require(worker["memoryBytes"]?.int)
    #expect((1 << 16)..<(256 << 20) ~= memory)
    #expect(worker["cpuSeconds"]?.double ?? 0 > 0)
    let text = try await gateway.ask("status").output
    #expect(
      text.contains(
        /worker signing   up [0-9.]+[smh0-9]*, process \d+, generation 1: hmac, tokens; 2 lanes, 0 under way, 0 waiting\n {17}\d+ of 256 MiB, [0-9.]+ s CPU, 0 restarts/
      ), "\(text)")
    #expect(text.contains(", refused: socket 3"), "\(text)")
  }

  @Test("metrics of workers have all figures, and Prometheus reads them", .rule("worker.71"))
  func metrics() async throws {
    let gateway = try await gateway("socket, log")
    for _ in 0..<3 { #expect(try gateway.query("{ __typename }").status == 200) }
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped.problems == [])
    for (series, value) in [
      ("up{group=signing}", 1.0), ("circuit_open{group=signing}", 0), ("sent_again_total{group=signing}", 0),
      ("calls_lost_total{group=signing}", 0), ("queue{group=signing}", 0), ("running{group=signing}", 0),
      ("refused_calls_total{call=socket,group=signing}", 3), ("log_lines_dropped_total{group=signing}", 0),
      ("upcalls_total{group=signing,kind=fetch}", 0), ("upcalls_total{group=signing,kind=store}", 0),
    ] { #expect(scraped["carabiner_worker_\(series)"] == value, "\(series)") }
    // Two entries have a hook. They may cross together.
    let crossings = try #require(scraped["carabiner_worker_crossings_total{group=signing}"])
    #expect(scraped["carabiner_worker_hooks_total{group=signing}"] == 6)
    #expect(3...6 ~= crossings)
    #expect(scraped["carabiner_worker_begin_seconds_count{group=signing}"] == crossings)
    #expect(scraped["carabiner_worker_begin_seconds_bucket{group=signing,le=+Inf}"] == crossings)
    #expect(scraped["carabiner_worker_begin_seconds_sum{group=signing}"] ?? -1 >= 0)
    #expect(scraped["carabiner_worker_memory_bytes{group=signing}"] ?? 0 > 0)
    #expect(scraped["carabiner_worker_cpu_seconds_total{group=signing}"] ?? 0 > 0)
  }

  @Test("a gateway without workers has no metrics of workers", .rule("worker.71", "worker.1"))
  func none() async throws {
    let store = try StoreFolder()
    _ = try store.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(store, endpoint: upstream.endpoint)
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped.series("carabiner_worker").isEmpty)
    #expect(try await gateway.status()["workers"] == [])
  }

  @Test(
    "a crash is in log, status and metrics, with entry, hook, request, signal and last lines",
    .rule("worker.41", "worker.70", "worker.71"))
  func crash() async throws {
    let gateway = try await gateway("print, log, crash")
    #expect(try gateway.query("{ __typename }").status == 500)
    let line = try await line("worker ended: ", of: gateway)
    for part in ["worker=signing", "entry=hmac", "hook=on_request", "signal=SIGSEGV", "printed by the plugin", "about to work"] {
      #expect(line.contains(part), "\(part): \(line)")
    }
    #expect(line.contains(/request=\d+/), "\(line)")
    // The kernel's log has the address. Not every user may read it, and the kernel leaves out lines if there are many.
    if line.contains("address=") { #expect(line.contains(/address=watched\.so\+0x[0-9a-f]+/), "\(line)") }
    var worker = try await worker(gateway)
    _ = await eventually {
      worker = try await self.worker(gateway)
      return worker["state"] == "up"
    }
    #expect(worker["restarts"] == 1 && worker["generation"] == 2, "\(worker)")
    #expect(worker["lastEnd"]?["kind"] == "SIGSEGV" && worker["lastEnd"]?["hooks"] == "hmac on_request", "\(worker)")
    let text = try await gateway.ask("status").output
    #expect(text.contains(/, 1 restart \(SIGSEGV in hmac on_request, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\)/), "\(text)")
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped.problems == [])
    #expect(scraped["carabiner_worker_restarts_total{group=signing,reason=SIGSEGV}"] == 1)
    #expect(scraped["carabiner_worker_calls_lost_total{group=signing}"] == 1)
  }

  @Test(
    "without walls around files, strict refuses; available logs once what is missing, and status shows it",
    .rule("worker-test.45", "worker.7"))
  func missing() async throws {
    let prefix = [try await WorkerRun.compileWithout(into: folder), "namespaces", "landlock", "--"]
    let refusal = await #expect(throws: ServeProcess.DidNotStart.self) {
      _ = try await self.gateway("", through: prefix)
    }
    #expect(refusal?.errors.contains("missing: a wall around files (Landlock): ") == true, "\(refusal?.errors ?? "")")
    #expect(refusal?.errors.contains("{confine: available}") == true)
    let gateway = try await gateway("", isolation: "{mode: worker, group: signing, confine: available}", through: prefix)
    #expect(try gateway.query("{ __typename }").status == 200)
    let warning = "workers run without a layer of their confinement: a wall around files (Landlock): "
    #expect(gateway.errors.split(separator: "\n").count { $0.contains(warning) } == 1, "\(gateway.errors)")
    let layers = try await worker(gateway)["missingLayers"]?.array?.compactMap(\.string) ?? []
    #expect(layers.contains { $0.hasPrefix("a wall around files (Landlock): ") }, "\(layers)")
    #expect(layers.contains { $0.hasPrefix("namespaces of its own: ") }, "\(layers)")
    let text = try await gateway.ask("status").output
    #expect(text.contains("missing: ") && text.contains("a wall around files (Landlock)"), "\(text)")
  }
}
