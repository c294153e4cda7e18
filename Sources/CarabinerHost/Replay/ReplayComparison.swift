internal import Carabiner
internal import CarabinerGateway
internal import CarabinerWire
internal import Foundation

/// A recorded operation that is run again.
struct ReplayComparison: Sendable {
  /// The result of the comparison.
  struct Outcome: Sendable {
    let operation: String
    /// The differences between the results.
    let result: ResultDifference
    /// The differences between the upstream requests, one line each.
    let requests: [String]

    var isSame: Bool { result.isEmpty && requests.isEmpty }
  }

  private let recorded: RecordedOperation
  private let host: ChainRuntime
  private let ignoredHeaders: Set<String>
  private let comparesRequests: Bool

  init(_ recorded: RecordedOperation, host: ChainRuntime, ignoredHeaders: Set<String>, comparesRequests: Bool) {
    self.recorded = recorded
    self.host = host
    self.ignoredHeaders = ignoredHeaders
    self.comparesRequests = comparesRequests
  }

  func run() async -> Outcome {
    let replay = UpstreamReplay(recorded.upstream)
    let result: RecordedOperation.Result
    do {
      let results = try host.results(of: recorded.operation, headers: recorded.headers, cachePolicy: .networkOnly, tracer: nil)
      result = .response([UInt8](try await results.within(.replaying(replay)).finalResult().body.bytes))
    } catch {
      result = .failure("\(error)")
    }
    return Outcome(
      operation: recorded.operation.operationName ?? "anonymous", result: ResultDifference(recorded.result, result),
      requests: comparesRequests ? requestDifferences(replay.requests) : [])
  }

  private func requestDifferences(_ requests: [UpstreamExchange]) -> [String] {
    var lines: [String] = []
    if requests.count != recorded.upstream.count {
      lines.append("\(recorded.upstream.count) requests become \(requests.count)")
    }
    for (index, (old, new)) in zip(recorded.upstream, requests).enumerated() {
      let prefix = recorded.upstream.count == 1 ? "" : "request \(index + 1): "
      if old.method != new.method { lines.append("\(prefix)method \(old.method) becomes \(new.method)") }
      if old.body != new.body { lines.append("\(prefix)the body differs: \(bodyDifference(old.body, new.body))") }
      lines += headerDifferences(old.headers, new.headers).map { prefix + $0 }
    }
    return lines
  }

  private func headerDifferences(_ old: HTTPHeaders, _ new: HTTPHeaders) -> [String] {
    var names: [String] = []
    for field in old.fields + new.fields {
      let name = field.name.lowercased()
      if !names.contains(name), !ignoredHeaders.contains(name) { names.append(name) }
    }
    return names.compactMap { name in
      let (before, after) = (old.values(for: name), new.values(for: name))
      // A redacted value cannot be compared.
      guard before != after, !before.contains(Recorder.placeholder) else { return nil }
      func text(_ values: [String]) -> String { values.isEmpty ? "nothing" : values.joined(separator: ", ") }
      return "header \(name): \(text(before)) becomes \(text(after))"
    }
  }

  private func bodyDifference(_ old: [UInt8], _ new: [UInt8]) -> String {
    guard let left = try? JSONValue(parsing: old), let right = try? JSONValue(parsing: new) else {
      return "\(old.count) bytes become \(new.count)"
    }
    return ResultDifference(left, right).places.map(\.text).joined(separator: "; ")
  }
}
