internal import Carabiner
internal import CarabinerBridge
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// `carabiner run --repeat`: runs an operation many times and measures it.
struct LoadRun: Sendable {
  /// The counts shared by the workers.
  private final class Tally: Sendable {
    let counts = Mutex(Counts())
  }

  private struct Counts {
    var next = 0
    var latencies = LatencyHistogram()
    var graphQLErrors = 0
    var failures: [String: Int] = [:]
    var firstFailure: (any Error)?
  }

  /// The time between two updates of the progress line.
  private static let progressInterval = Duration.milliseconds(200)

  let host: PluginHost
  let operation: DynamicOperation
  let files: [GraphQLFile]
  let policy: CachePolicy
  let count: Int
  let concurrency: Int

  func run(format: OutputFormat) async throws {
    let tally = Tally()
    let client = ApolloClient(networkTransport: host.transport)
    let start = ContinuousClock.now
    let startCPU = ProcessTime.now
    let interrupt = InterruptSignal()
    defer { interrupt.stop() }
    let requests = Task {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<min(concurrency, count) {
          group.addTask(executorPreference: host.executor) { await work(client, tally) }
        }
      }
    }
    interrupt.handle { requests.cancel() }
    let progress = Task {
      while Terminal.isInteractive, !Task.isCancelled {
        try? await Task.sleep(for: Self.progressInterval)
        Terminal.progress(bar(tally.counts.withLock { $0.latencies.count }))
      }
    }
    await requests.value
    progress.cancel()
    if Terminal.isInteractive { Terminal.progress("") }
    let wall = ContinuousClock.now - start
    let cpu = ProcessTime.now - startCPU
    let result = tally.counts.withLock { $0 }
    Terminal.emit(summary(result.latencies, result.failures, result.graphQLErrors, wall, cpu, format))
    if result.firstFailure is CancellationError { throw ExitStatus.cancelled }
    if let error = result.firstFailure {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
    if result.graphQLErrors > 0 { throw ExitStatus.graphQLErrors }
  }

  private func work(_ client: ApolloClient, _ tally: Tally) async {
    while tally.counts.withLock({
      $0.next += 1
      return $0.next <= count
    }), !Task.isCancelled {
      let start = ContinuousClock.now
      do {
        let results = try client.results(of: operation, files, cachePolicy: policy, tracer: nil)
        var hasErrors = false
        for try await response in results { hasErrors = hasErrors || response.hasErrors }
        let latency = ContinuousClock.now - start
        tally.counts.withLock { tally in
          tally.latencies.record(UInt64(max(latency.seconds, 0) * 1e9))
          if hasErrors { tally.graphQLErrors += 1 }
        }
      } catch {
        tally.counts.withLock { tally in
          tally.failures["\(type(of: error))", default: 0] += 1
          if tally.firstFailure == nil { tally.firstFailure = error }
        }
      }
    }
  }

  private func bar(_ done: Int) -> String {
    let width = 30
    let filled = done * width / max(count, 1)
    return "[\(String(repeating: "█", count: filled))\(String(repeating: "·", count: width - filled))] \(done)/\(count)"
  }

  private func summary(
    _ latencies: LatencyHistogram, _ failures: [String: Int], _ graphQLErrors: Int, _ wall: Duration, _ cpu: Double,
    _ format: OutputFormat
  ) -> String {
    func percentile(_ share: Double) -> Double { Double(latencies.percentile(share)) / 1e3 }
    let failed = failures.values.reduce(0, +)
    let rate = Double(latencies.count) / max(wall.seconds, 1e-9)
    let perRequest = cpu * 1e6 / Double(max(latencies.count + failed, 1))
    guard format == .pretty else {
      func number(_ value: Double) -> JSONValue { JSONNumber((value * 100).rounded() / 100).map { .number($0) } ?? .null }
      var kinds = JSONObject()
      for (kind, count) in failures.sorted(by: { $0.key < $1.key }) { kinds[kind] = .number(JSONNumber(count)) }
      let members: JSONObject = [
        "requests": .number(JSONNumber(latencies.count + failed)), "failed": .number(JSONNumber(failed)),
        "graphql_errors": .number(JSONNumber(graphQLErrors)), "seconds": number(wall.seconds),
        "requests_per_second": number(rate),
        "cpu_us_per_request": number(perRequest), "p50_us": number(percentile(0.5)), "p90_us": number(percentile(0.9)),
        "p99_us": number(percentile(0.99)), "max_us": number(percentile(1)), "failures": .object(kinds),
      ]
      return JSONValue.object(members).description
    }
    var lines = [
      "\(latencies.count + failed) requests, \(failed) failed, \(graphQLErrors) with GraphQL errors",
      String(format: "%.2f s, %.0f requests/s, %.1f µs of CPU per request", wall.seconds, rate, perRequest),
      String(
        format: "latency µs: p50 %.0f, p90 %.0f, p99 %.0f, max %.0f", percentile(0.5), percentile(0.9), percentile(0.99),
        percentile(1)),
    ]
    lines += failures.sorted { $0.key < $1.key }.map { "failed with \($0.key): \($0.value)" }
    return lines.joined(separator: "\n")
  }
}

/// CPU time of this process.
enum ProcessTime {
  /// Seconds of user and system time so far.
  static var now: Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
  }
}
