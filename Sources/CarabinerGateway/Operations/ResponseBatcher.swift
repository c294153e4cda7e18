internal import NIOCore
internal import Synchronization

/// Passes responses in batches from the executor that produces them to the event loops that write them.
///
/// Waking an event loop for each response costs more than writing it. On a busy machine the loop wakes, finds one response, and
/// sleeps again. So the first response schedules one turn after the work that is already queued, and this turn takes all
/// responses that have arrived by then.
final class ResponseBatcher: Sendable {
  private struct Answer {
    let loop: any EventLoop
    let write: @Sendable () -> Void
  }

  private let waiting = Mutex<[Answer]>([])

  /// Runs `write` on its event loop, with the next batch.
  ///
  /// - Parameter executor: The executor on which responses are produced.
  func add(_ loop: any EventLoop, from executor: any TaskExecutor, _ write: @escaping @Sendable () -> Void) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(Answer(loop: loop, write: write))
      return waiting.count == 1
    }
    if isFirst { Task(executorPreference: executor) { [self] in handOver() } }
  }

  private func handOver() {
    var answers = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    while let loop = answers.first?.loop {
      let own = answers.filter { $0.loop === loop }.map(\.write)
      loop.execute { for write in own { write() } }
      answers.removeAll { $0.loop === loop }
    }
  }
}
