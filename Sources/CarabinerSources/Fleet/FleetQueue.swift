internal import CarabinerEtcd
internal import CarabinerFleet
internal import Synchronization

/// The news for a node of a fleet. It has the latest of each kind only, however slow the reader is.
final class FleetQueue: Sendable {
  struct News: Sendable {
    var view: EtcdView?
    var failure: SourceError?
    /// The latest outcome of each manifest.
    var outcomes: [(id: CandidateID, outcome: ManifestOutcome)] = []
    var isTick = false
  }

  private let news = Mutex(News())
  private let signal: AsyncStream<Void>.Continuation
  /// One element after news; read by one task.
  let signals: AsyncStream<Void>

  init() { (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

  /// Takes the news since the last call.
  func take() -> News {
    news.withLock { news in
      defer { news = News() }
      return news
    }
  }

  func add(_ view: EtcdView) { add { $0.view = view } }
  func add(_ failure: SourceError) { add { $0.failure = failure } }
  func tick() { add { $0.isTick = true } }
  func wake() { signal.yield() }

  func add(_ outcome: ManifestOutcome, of id: CandidateID) {
    add { news in
      news.outcomes.removeAll { $0.id == id }
      news.outcomes.append((id, outcome))
    }
  }

  private func add(_ change: (inout News) -> Void) {
    news.withLock { change(&$0) }
    signal.yield()
  }
}
