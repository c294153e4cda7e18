internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// The awaiting side's hold on a transfer: starts it on the loop, aborts it when cancelled or dropped.
final class TransferTicket: Sendable {
  private enum State {
    case notStarted
    case started(Transfer)
    case aborted
  }

  private let loop: EventLoop
  private let state = Mutex(State.notStarted)

  init(loop: EventLoop) { self.loop = loop }

  /// Starts the transfer on the loop's thread and waits for its head.
  func start(_ make: @escaping @Sendable (CurlMulti) throws -> Transfer) async throws -> HTTPURLResponse {
    let transfer =
      loop.isCurrent ? try begin(loop.multi, make) : try await loop.run { multi in try self.begin(multi, make) }
    return try await transfer.head()
  }

  private func begin(_ multi: CurlMulti, _ make: (CurlMulti) throws -> Transfer) throws -> Transfer {
    let transfer = try make(multi)
    let isWanted = state.withLock { state in
      guard case .notStarted = state else { return false }
      state = .started(transfer)
      return true
    }
    if !isWanted { multi.abort(transfer) }
    return transfer
  }

  func nextChunk() async throws -> PullStream<Data>.Step {
    guard case .started(let transfer) = state.withLock({ $0 }) else { throw CancellationError() }
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

  deinit { abort() }
}
