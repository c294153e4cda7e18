internal import Synchronization

/// Pulls a stream within the task-local values that were bound where it was created.
///
/// A task keeps the values. It runs only while an element is awaited, and ends with this object.
final class ScopedPuller<Element: Sendable>: Sendable {
  typealias Step = PullStream<Element>.Step
  private typealias Reply = CheckedContinuation<Step, any Error>

  /// The handover between the consumer and the task that produces the elements.
  private final class MeetingPoint: Sendable {
    private enum State {
      case idle
      case worker(CheckedContinuation<Reply?, Never>)
      case consumer(Reply)
      case closed
    }

    private let state = Mutex(State.idle)

    /// Passes a request for an element to the worker.
    func submit(_ reply: Reply) {
      let worker: CheckedContinuation<Reply?, Never>? = state.withLock { state in
        switch state {
        case .worker(let worker):
          state = .idle
          return worker
        case .idle:
          state = .consumer(reply)
          return nil
        case .consumer, .closed:
          reply.resume(throwing: CancellationError())
          return nil
        }
      }
      worker?.resume(returning: reply)
    }

    /// Waits for the next request; nil when the consumer is gone.
    func nextRequest() async -> Reply? {
      await withCheckedContinuation { worker in
        let request: Reply?? = state.withLock { state in
          switch state {
          case .consumer(let reply):
            state = .idle
            return reply
          case .idle:
            state = .worker(worker)
            return nil
          case .worker, .closed:
            return .some(nil)
          }
        }
        if let request { worker.resume(returning: request) }
      }
    }

    func close() {
      let previous = state.withLock { state in
        defer { state = .closed }
        return state
      }
      switch previous {
      case .worker(let worker): worker.resume(returning: nil)
      case .consumer(let reply): reply.resume(throwing: CancellationError())
      case .idle, .closed: break
      }
    }
  }

  private let meetingPoint = MeetingPoint()
  private let task: Task<Void, Never>

  init(_ pull: @escaping @Sendable () async throws -> Step) {
    task = Task { [meetingPoint] in
      while let reply = await meetingPoint.nextRequest() {
        do {
          reply.resume(returning: try await pull())
        } catch {
          reply.resume(throwing: error)
        }
      }
    }
  }

  func next() async throws -> Step {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { meetingPoint.submit($0) }
    } onCancel: {
      task.cancel()
    }
  }

  deinit {
    task.cancel()
    meetingPoint.close()
  }
}
