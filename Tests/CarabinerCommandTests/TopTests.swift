import CarabinerHost
import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

@testable import CarabinerCommand

/// The display of carabiner top.
@Suite("carabiner top")
struct TopTests {
  private static let manifest = """
    carabiner: 1
    serve: {cache-policy: cacheFirst}
    plugins: [{name: stamp, file: plugin.so}]
    chain: {cache: [store], http: [stamp, response-code]}

    """

  private func gateway(_ upstream: DemoServerProcess) async throws -> ServeProcess {
    let folder = try StoreFolder()
    let plugin = try await CompiledFixture("stamp")
    try FileManager.default.copyItem(atPath: plugin.path, toPath: folder.file("plugin.so"))
    _ = try folder.write(Self.manifest, to: "chain.yaml")
    return try ServeProcess(folder, endpoint: upstream.endpoint, ["--time-stages", "1"])
  }

  @Test("the display counts exactly the requests since it began")
  func metrics() async throws {
    let upstream = try DemoServerProcess()
    let gateway = try await gateway(upstream)
    // This request is before the first look, so it must not count.
    #expect(try gateway.query("query Before { __typename }").status == 200)
    let top = try TopProcess(["--admin", gateway.admin, "--interval", "100ms", "--format", "json"])
    #expect(top.waits { !$0.looks.isEmpty })
    for _ in 0..<3 { _ = try gateway.query("query Title { book(id: 1) { title } }") }
    _ = try gateway.query("query Broken { failing }")
    let wanted = ["requests_per_second": 4, "errors_per_second": 1, "retries_per_second": 0, "rate_limited_per_second": 0]
    #expect(top.waits { top in wanted.allSatisfy { top.total { $0[$1] }($0.key) == $0.value } }, "\(top.looks)")
    #expect(top.waits { $0.total { $0["cache"]?[$1] }("reads_per_second") == 4 })
    #expect(top.waits { $0.total { $0["upstream"]?[$1] }("requests_per_second") == 2 })
    #expect(top.waits { $0.total { $0["plugins"]?[0]?[$1] }("calls_per_second") == 2 })
    let looks = top.looks
    #expect(looks.allSatisfy { $0["generation"] == 1 && $0["restarted"] == false && $0["plugins"]?[0]?["name"] == "stamp" })
    #expect(looks.last?["plugins"]?[0]?["seconds_per_call"]?.double ?? 0 > 0)
    let latencies = looks.compactMap { $0["latency_seconds"]?.object }.filter { $0["p50"] != .null }
    #expect(!latencies.isEmpty)
    for latency in latencies {
      let values = ["p50", "p95", "p99"].compactMap { latency[$0]?.double }
      #expect(values.count == 3 && values == values.sorted() && values[0] > 0)
    }
  }

  @Test("with --once it shows one interval and ends", arguments: ["text", "json"])
  func once(_ format: String) async throws {
    let upstream = try DemoServerProcess()
    let gateway = try await gateway(upstream)
    let run = try await gateway.ask("top", "--once", "--interval", "10ms", "--format", format)
    #expect(run.status == 0, "\(run.errors)")
    if format == "json" { #expect(try JSONValue(parsing: run.output)["requests_per_second"] == 0) }
    #expect(run.output.contains("stamp") && !run.output.contains("\u{1B}"))
  }

  @Test("a gateway that restarts is waited for, and the display says so")
  func restart() async throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint)
    let top = try TopProcess(["--admin", gateway.admin, "--interval", "50ms", "--format", "json"])
    #expect(top.waits { !$0.looks.isEmpty })
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    #expect(top.waits { $0.text.contains("no gateway answers; waiting for its restart") })
    let again = try ServeProcess(folder, endpoint: upstream.endpoint, socket: gateway.socket)
    #expect(top.waits { $0.looks.contains { $0["restarted"] == true } && $0.text.contains("the gateway was restarted") })
    #expect(top.isRunning)
    withExtendedLifetime(again) {}
  }

  @Test("on a terminal it draws in place, and restores the terminal when it ends", arguments: ["q", "\u{3}"])
  func terminal(_ key: String) async throws {
    let upstream = try DemoServerProcess()
    let gateway = try await gateway(upstream)
    let run = try await ToolRun(
      Repository.python,
      [
        Repository.root.appending(path: "Tests/Peers/terminal.py").path, "requests   ", key, Repository.command.path, "top",
        "--admin",
        gateway.admin, "--interval", "100ms",
      ])
    #expect(run.status == 0, "\(run.errors)")
    let report = try JSONValue(parsing: run.output)
    #expect(report["exit"] == 0 && report["restored"] == true)
    let text = try #require(report["output"]?.string)
    #expect(text.contains("\u{1B}[?1049h") && text.contains("\u{1B}[H") && text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    #expect(text.contains("stamp") && text.contains("q ends"))
    // The terminal has 60 columns and 12 rows.
    for frame in text.components(separatedBy: "\u{1B}[H").dropFirst() {
      let lines = frame.components(separatedBy: "\r\n")
      #expect(lines.count <= 12)
      #expect(lines.allSatisfy { $0.replacing(/\u{1B}\[[?0-9]*[A-Za-z]/, with: "").count <= 60 })
    }
  }

  @Test("a missing gateway, or another server, is reported at once")
  func refusals() async throws {
    let folder = try StoreFolder()
    let none = try await CommandRun(["top", "--admin", "unix:\(folder.file("none.sock"))", "--once"])
    #expect(none.status == 4 && none.errors.contains("is carabiner serve running"))
    #expect(try await CommandRun(["top", "--admin", "unix:/x", "--interval", "1ms"]).status == 2)
    #expect(try await CommandRun(["top"], environment: ["CARABINER_ADMIN": ""]).status == 2)
  }

  @Test(
    "the latency a share of all stays at or below",
    arguments: [
      ([(1.0, 10.0), (2, 20), (.infinity, 20)], 0.5, 1.0), ([(1, 10), (2, 20), (.infinity, 20)], 0.75, 1.5),
      ([(1, 0), (2, 4), (.infinity, 4)], 0.25, 1.25), ([(1, 0), (2, 0), (.infinity, 3)], 0.99, 2),
      ([(1, 0), (.infinity, 0)], 0.5, nil),
      ([], 0.5, nil), ([(.infinity, 4), (4, 4), (2, 2)], 0.5, 2),
    ] as [([(Double, Double)], Double, Double?)])
  func quantiles(_ buckets: [(Double, Double)], _ share: Double, _ expected: Double?) {
    #expect(HistogramDifference(buckets.map { (bound: $0.0, count: $0.1) }).quantile(share) == expected)
  }

  @Test(
    "times have three digits and a unit",
    arguments: [
      (nil, "-"), (0, "0.00 ns"), (2.5e-7, "250 ns"), (1.234e-6, "1.23 µs"), (0.0999, "99.9 ms"), (0.9999, "1.00 s"),
      (75, "75.0 s"), (.nan, "-"),
    ] as [(Double?, String)])
  func times(_ seconds: Double?, _ text: String) { #expect(ShortTime.text(seconds) == text) }

  @Test("metrics with unusual labels are parsed unchanged, and invalid text is refused")
  func parsing() throws {
    let sample = try MetricsSample(parsing: "# HELP a b\na{b=\"c\\\"\\\\\\n}\",d=\"\"} 1.5\nb +Inf\n")
    #expect(sample.value("a", ["b": "c\"\\\n}", "d": ""]) == 1.5)
    #expect(sample.value("b") == .infinity)
    for text in ["a", "a{", "a{b} 1", "a{b=\"c} 1", "a{b=\"\\x\"} 1", "a x", "{b=\"c\"} 1", "a{b=\"c\"d=\"e\"} 1"] {
      #expect(throws: CommandError.self, "\(text)") { try MetricsSample(parsing: text) }
    }
  }
}

/// `carabiner top`, running as long as this value lives.
private final class TopProcess {
  private let process = ChildProcess()
  private let output: String

  init(_ arguments: [String]) throws {
    output = FileManager.default.temporaryDirectory.appending(path: "carabiner-top-\(UUID().uuidString)").path
    try Data().write(to: URL(filePath: output))
    let file = try #require(FileHandle(forWritingAtPath: output))
    process.executableURL = Repository.command
    process.arguments = ["top"] + arguments
    process.standardOutput = file
    process.standardError = file
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  /// The output so far.
  var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

  /// The figures of each look, in order.
  var looks: [JSONValue] {
    text.split(separator: "\n").filter { $0.hasPrefix("{") && $0.hasSuffix("}") }.compactMap {
      try? JSONValue(parsing: String($0))
    }
  }

  /// The total count over all looks, computed from the rates of a figure.
  func total(_ figure: @escaping (JSONValue, String) -> JSONValue?) -> (String) -> Int {
    let looks = looks
    return { name in
      Int(looks.reduce(0.0) { $0 + (figure($1, name)?.double ?? 0) * ($1["interval_seconds"]?.double ?? 0) }.rounded())
    }
  }

  /// Waits up to a minute for a condition. Returns whether it became true.
  func waits(until isTrue: (TopProcess) -> Bool) -> Bool {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(60) {
      if isTrue(self) { return true }
      usleep(10_000)
    }
    return false
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: output)
  }
}
