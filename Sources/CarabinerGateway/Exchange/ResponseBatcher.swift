internal import NIOCore
internal import Synchronization

/// Passes responses in batches from the executor that produces them to the event loops that write them.
///
/// Waking an event loop for each response costs more than writing it. On a busy machine the loop wakes, finds one response, and
/// sleeps again. So the first response schedules one turn after the work that is already queued, and this turn takes all
/// responses that have arrived by then.
final class ResponseBatcher: Sendable {
  private let waiting = Mutex<[GatewayReply]>([])

  /// Writes a complete response on the event loop of its connection, with the next batch.
  ///
  /// - Parameter executor: The executor on which responses are produced.
  func add(_ reply: GatewayReply, from executor: any TaskExecutor) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(reply)
      return waiting.count == 1
    }
    if isFirst { Task(executorPreference: executor) { [self] in handOver() } }
  }

  private func handOver() {
    var replies = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    while let loop = replies.first?.channel.eventLoop {
      let later = replies.partition { $0.channel.eventLoop !== loop }
      let own = replies[..<later]
      loop.execute {
        for reply in own { reply.writeWhole() }
        // The streams of a connection are sent together.
        for reply in own { reply.flush() }
      }
      replies.removeSubrange(..<later)
    }
  }
}
