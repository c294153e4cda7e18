internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
public import Foundation
internal import Synchronization

/// An event of a host's generations.
public struct GenerationEvent: Sendable {
  /// The kind of event.
  public enum Kind: String, Sendable, Hashable {
    /// A new generation serves.
    case accepted
    /// A new generation is on trial beside the one that serves.
    case onTrial
    /// The generation on trial serves.
    case promoted
    /// The trial failed or was stopped; the earlier generation continues to serve.
    case rolledBack
    /// A new manifest is refused; the current generation continues to serve.
    case refused
    /// A generation that was replaced has ended with its last operation.
    case ended
  }

  /// The kind of event.
  public let kind: Kind
  /// The number of the serving generation, counted from 1. For ``Kind/ended``, the number of the one that ended.
  public let generation: UInt64
  /// The reason for the reload, such as `SIGHUP`; nil for ``Kind/ended``.
  public let trigger: String?
  /// The changes in the new manifest, one line each.
  public let changes: [String]
  /// The reasons why the manifest is not used, one line each; empty if it is.
  public let problems: [String]
  /// The time of the event.
  public let date: Date

  /// - Parameter redact: Replaces secrets in a text.
  init(_ report: ReloadReport, redact: (String) -> String) {
    kind =
      switch report.outcome {
      case .accepted: .accepted
      case .onTrial: .onTrial
      case .promoted: .promoted
      case .rolledBack: .rolledBack
      case .refused: .refused
      }
    generation = report.generation
    trigger = report.trigger
    changes = (report.difference?.json.array ?? []).compactMap(\.string).map(redact)
    problems = report.problems.map(redact)
    date = report.date
  }

  init(ended generation: UInt64) {
    kind = .ended
    self.generation = generation
    trigger = nil
    changes = []
    problems = []
    date = Date()
  }
}

/// Sends events to all open streams.
final class GenerationEvents: Sendable {
  /// The buffer size per stream. If a reader is slow, the oldest events are dropped.
  static let maximumWaiting = 64

  private struct State {
    var next = 0
    var isFinished = false
    var readers: [Int: AsyncStream<GenerationEvent>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// Returns a stream of events from now on.
  func stream() -> AsyncStream<GenerationEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: GenerationEvent.self, bufferingPolicy: .bufferingNewest(Self.maximumWaiting))
    let number: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      defer { state.next += 1 }
      state.readers[state.next] = continuation
      return state.next
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  func send(_ event: GenerationEvent) {
    for reader in state.withLock({ Array($0.readers.values) }) { reader.yield(event) }
  }

  /// Ends all streams.
  func finish() {
    let readers = state.withLock { state in
      defer { state.readers = [:] }
      state.isFinished = true
      return Array(state.readers.values)
    }
    for reader in readers { reader.finish() }
  }

  private func remove(_ number: Int) { state.withLock { $0.readers[number] = nil } }
}
