internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// The consumer's handle of a transfer. It starts the transfer on the loop, and aborts it when it is cancelled or released.
final class TransferHandle: Sendable {
  private enum State {
    case notStarted
    case started(Transfer)
    case failed(any Error)
    case aborted
  }

  private let loop: EventLoop
  private let state = Mutex(State.notStarted)

  init(loop: EventLoop) { self.loop = loop }

  /// Starts the transfer on the loop's thread and waits for its head.
  func start(_ make: @escaping @Sendable (CurlMulti) throws -> Transfer) async throws -> HTTPURLResponse {
    unsafe await withUnsafeContinuation { waiter in
      let isAccepted = loop.execute { multi in unsafe self.begin(make, multi, waiter) }
      guard !isAccepted else { return }
      _ = move(to: .failed(SystemFailure.stopped))
      unsafe waiter.resume()
    }
    guard let head = try transfer().head() else { throw CancellationError() }
    return head
  }

  /// Starts the transfer; called on the loop's thread.
  private func begin(_ make: (CurlMulti) throws -> Transfer, _ multi: CurlMulti, _ waiter: Transfer.Waiter) {
    do {
      let transfer = try make(multi)
      if !move(to: .started(transfer)) { multi.abort(transfer) }
      unsafe transfer.wakeWhenReady(waiter)
    } catch {
      _ = move(to: .failed(error))
      unsafe waiter.resume()
    }
  }

  func nextChunk() async throws -> PullStream<Data>.Step {
    let transfer = try transfer()
    return try await transfer.nextChunk { loop.execute { multi in multi.resume(transfer) } }
  }

  func abort() {
    let transfer: Transfer? = state.withLock { state in
      defer { state = .aborted }
      if case .started(let transfer) = state { return transfer }
      return nil
    }
    if let transfer, !transfer.isOver { loop.execute { multi in multi.abort(transfer) } }
  }

  /// Returns false if the handle was aborted before.
  private func move(to next: State) -> Bool {
    state.withLock { state in
      guard case .notStarted = state else { return false }
      state = next
      return true
    }
  }

  private func transfer() throws -> Transfer {
    switch state.withLock({ $0 }) {
    case .started(let transfer): return transfer
    case .failed(let error): throw error
    case .notStarted, .aborted: throw CancellationError()
    }
  }

  deinit { abort() }
}
