internal import NIOCore
internal import Synchronization

/// Answers on their way from the thread that makes them to the loops that write them.
///
/// Waking a loop for each answer costs more than writing it: on a busy machine it runs at once, finds one answer, and sleeps again. So
/// the first answer asks for a turn behind the work that waits already, and takes along what has come by then.
final class ResponseBatcher: Sendable {
  private struct Answer {
    let loop: any EventLoop
    let write: @Sendable () -> Void
  }

  private let waiting = Mutex<[Answer]>([])

  /// Runs `write` on its loop, soon.
  ///
  /// - Parameter executor: Where answers are made.
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
