internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// A generation on trial, before it runs all operations.
final class GenerationTrial: Sendable {
  /// The kind of trial.
  enum Kind: Sendable {
    /// The generation runs a share of the operations.
    case canary(Manifest.Canary)
    /// The generation runs copies of a share of the queries.
    case shadow(Manifest.Shadow)
  }

  /// The current judgement of the trial.
  enum Verdict: Sendable, Hashable {
    case undecided
    /// It may run all operations.
    case passed
    /// It must be stopped; the value is the reason.
    case failed(String)
  }

  let generation: Generation
  let kind: Kind
  /// The statistics of this generation and of the current one during the trial.
  let own = TrialStatistics()
  let baseline = TrialStatistics()
  let comparisons = ShadowComparisons()
  let start = ContinuousClock.now
  private let random = Mutex(SystemRandomNumberGenerator())

  /// - Returns: Nil if the manifest requires no trial.
  init?(_ generation: Generation) {
    let serve = generation.manifest.serve
    if let canary = serve.canary {
      kind = .canary(canary)
    } else if let shadow = serve.shadow {
      kind = .shadow(shadow)
    } else {
      return nil
    }
    self.generation = generation
  }

  /// A description of the trial for reports.
  var name: String {
    switch kind {
    case .canary(let canary): "canary for \(Self.percent(canary.share)) of the operations"
    case .shadow(let shadow): "shadow of \(Self.percent(shadow.share)) of the queries"
    }
  }

  /// Whether a canary runs the operations with this key. The result depends only on the key and the share.
  static func takes(_ key: String, share: Double) -> Bool { takes(hash(of: key), share: share) }

  /// Whether a canary runs the operations of the key with this hash.
  static func takes(_ hash: UInt64, share: Double) -> Bool { Double(hash >> 11) * 0x1p-53 < share }

  /// The hash of a key, the same in all processes.
  static func hash(of key: String) -> UInt64 {
    // FNV-1a with the finaliser of MurmurHash3, so that similar addresses get unrelated values.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ (hash >> 33)
  }

  /// Whether a shadow copies this query.
  func isChosen(share: Double) -> Bool { random.withLock { Double.random(in: 0..<1, using: &$0) } < share }

  /// Judges a canary by its statistics. A shadow is judged by the operator.
  func verdict(now: ContinuousClock.Instant = .now) -> Verdict {
    guard case .canary(let canary) = kind else { return .undecided }
    let (mine, others) = (own.summary, baseline.summary)
    guard mine.count >= canary.minimumOperations else { return .undecided }
    if mine.errorRate > others.errorRate + canary.errorIncrease {
      return .failed(
        "\(Self.percent(mine.errorRate)) of its \(mine.count) operations failed or had errors, and "
          + "\(Self.percent(others.errorRate)) of the others' \(others.count)")
    }
    if others.count >= canary.minimumOperations, mine.slow > others.slow * canary.latencyRatio, mine.slow - others.slow > 1 {
      return .failed("its 95th percentile is \(Self.milliseconds(mine.slow)), and the others' \(Self.milliseconds(others.slow))")
    }
    return now - start >= canary.duration ? .passed : .undecided
  }

  var json: JSONValue {
    var object: JSONObject = [
      "generation": .count(generation.number), "kind": .string(name), "since": .string(generation.since.ISO8601Format()),
    ]
    switch kind {
    case .canary:
      object["own"] = own.summary.json
      object["others"] = baseline.summary.json
    case .shadow: object["comparisons"] = comparisons.json
    }
    return .object(object)
  }

  private static func percent(_ share: Double) -> String { "\(JSONNumber((share * 10_000).rounded() / 100)?.lexeme ?? "?")%" }
  private static func milliseconds(_ time: Double) -> String { "\((time * 10).rounded() / 10) ms" }
}

/// The statistics of operations during a trial.
final class TrialStatistics: Sendable {
  /// A summary of the statistics.
  struct Summary: Sendable, Hashable {
    var count = 0
    /// The clients that sent operations, up to ``TrialStatistics/maximumClients``.
    var clients = 0
    /// The share that failed or had errors, 0 to 1.
    var errorRate = 0.0
    /// The 95th percentile of the latencies in milliseconds.
    var slow = 0.0

    var json: JSONValue {
      [
        "operations": .count(count), "clients": .count(clients), "errorRate": .number(JSONNumber(errorRate) ?? JSONNumber(0)),
        "milliseconds95": .number(JSONNumber(slow) ?? JSONNumber(0)),
      ]
    }
  }

  private struct State {
    var errors = 0
    var latencies = LatencyHistogram()
    var clients: Set<UInt64> = []
  }

  /// The maximum number of clients that are distinguished. It limits the memory of a trial.
  static let maximumClients = 100_000

  private let state = Mutex(State())

  var summary: Summary {
    state.withLock { state in
      let count = state.latencies.count
      return Summary(
        count: count, clients: state.clients.count, errorRate: count == 0 ? 0 : Double(state.errors) / Double(count),
        slow: Double(state.latencies.percentile(0.95)) / 1e6)
    }
  }

  /// Records that a client has sent an operation.
  ///
  /// - Parameter hash: The hash of its key.
  func saw(_ hash: UInt64) {
    state.withLock { state in
      if state.clients.count < Self.maximumClients { state.clients.insert(hash) }
    }
  }

  func record(_ time: Duration, isError: Bool) {
    state.withLock { state in
      state.latencies.record(UInt64(max(0, time.milliseconds * 1e6)))
      if isError { state.errors += 1 }
    }
  }
}
