internal import Carabiner
internal import FoundationEssentials

/// A tracer that also records stage durations.
struct TimedTracer: ChainTracer {
  let timings: StageTimings
  let other: any ChainTracer

  func record(_ event: StageEvent) {
    timings.record(event)
    other.record(event)
  }

  func willSend(_ request: inout URLRequest) -> (any TransferTracer)? {
    other.willSend(&request).map { TimedTransfer(timings: timings, other: $0) }
  }

  func willSend(_ operationType: GraphQLOperationType, to endpoint: URL) -> (any TransferTracer)? {
    other.willSend(operationType, to: endpoint)
  }
}

/// A transfer tracer that also records the time to the response head. The other tracer gets all events.
private struct TimedTransfer: TransferTracer {
  let timings: StageTimings
  let other: any TransferTracer
  let start = ContinuousClock.now

  func received(_ head: HTTPURLResponse) {
    timings.record(
      StageEvent(
        kind: .transport, stage: "", hook: "send", direction: .down, outcome: "\(head.statusCode)", duration: .now - start))
    other.received(head)
  }

  func ended(_ error: (any Error)?) { other.ended(error) }
}
