package import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// Observes whether an operation may have reached the upstream.
package final class SendingWatch: Sendable {
  private let sent = Atomic<Int>(0)

  /// Whether a request was sent, or may have been.
  package var mayHaveBeenSent: Bool { sent.load(ordering: .relaxed) > 0 }

  /// Returns a tracer that observes the requests of an operation and passes all events to another tracer.
  package func tracer(beside other: (any ChainTracer)?) -> any ChainTracer { WatchingTracer(watch: self, other: other) }

  fileprivate func begin() { sent.add(1, ordering: .relaxed) }

  fileprivate func ended(_ error: (any Error)?) {
    let wasSent =
      switch error {
      case let error as TransportError: error.mayHaveBeenSent || error.responseBegan
      case let error as WebSocketError: error.mayHaveBeenSent
      case is UpstreamRefusal: false
      default: true
      }
    if !wasSent { sent.subtract(1, ordering: .relaxed) }
  }
}

private struct WatchingTracer: ChainTracer {
  let watch: SendingWatch
  let other: (any ChainTracer)?

  func record(_ event: StageEvent) { other?.record(event) }

  func willSend(_ request: inout URLRequest) -> (any TransferTracer)? {
    watch.begin()
    let transfer = other?.willSend(&request)
    return WatchingTransfer(watch: watch, other: transfer, events: transfer == nil ? other : nil)
  }

  func willSend(_ operationType: GraphQLOperationType, to endpoint: URL) -> (any TransferTracer)? {
    watch.begin()
    return WatchingTransfer(watch: watch, other: other?.willSend(operationType, to: endpoint), events: nil)
  }
}

private final class WatchingTransfer: TransferTracer {
  private let watch: SendingWatch
  private let other: (any TransferTracer)?
  /// Gets an event of the transfer, because it has no tracer for transfers.
  private let events: (any ChainTracer)?
  private let start = ContinuousClock.now
  private let isOver = Atomic(false)

  init(watch: SendingWatch, other: (any TransferTracer)?, events: (any ChainTracer)?) {
    (self.watch, self.other, self.events) = (watch, other, events)
  }

  func received(_ head: HTTPURLResponse) {
    events?.record(
      StageEvent(
        kind: .transport, stage: head.url.host() ?? "", hook: "send", direction: .down, outcome: "\(head.statusCode)",
        duration: .now - start))
    other?.received(head)
  }

  func ended(_ error: (any Error)?) {
    // A transfer counts once.
    if !isOver.exchange(true, ordering: .relaxed) { watch.ended(error) }
    other?.ended(error)
  }
}
