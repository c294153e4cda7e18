internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// The consumer's handle of an exchange. It starts the exchange on the loop, and aborts it when it is cancelled or released.
final class ExchangeHandle: Sendable {
  private enum State {
    case notStarted
    case started(Exchange)
    case failed(any Error)
    case aborted
  }

  private let loop: EventLoop
  private let state = Mutex(State.notStarted)

  init(loop: EventLoop) { self.loop = loop }

  /// Starts the exchange on the loop's thread and waits for its head.
  func start(_ make: @escaping @Sendable (CurlMulti) throws -> Exchange) async throws -> HTTPURLResponse {
    unsafe await withUnsafeContinuation { waiter in
      let isAccepted = loop.execute { multi in unsafe self.begin(make, multi, waiter) }
      guard !isAccepted else { return }
      _ = move(to: .failed(SystemFailure.stopped))
      unsafe waiter.resume()
    }
    guard let head = try exchange().head() else { throw CancellationError() }
    return head
  }

  /// Starts the exchange; called on the loop's thread.
  private func begin(_ make: (CurlMulti) throws -> Exchange, _ multi: CurlMulti, _ waiter: Exchange.Waiter) {
    do {
      let exchange = try make(multi)
      if !move(to: .started(exchange)) { exchange.abort(in: multi) }
      unsafe exchange.wakeWhenReady(waiter)
    } catch {
      _ = move(to: .failed(error))
      unsafe waiter.resume()
    }
  }

  func nextChunk() async throws -> PullStream<Data>.Step {
    let exchange = try exchange()
    return try await exchange.nextChunk { loop.execute { multi in exchange.resume(in: multi) } }
  }

  /// The bytes since the last call, or the end; nil if there are none yet.
  func readyChunk() throws -> PullStream<Data>.Step? {
    let exchange = try exchange()
    return try exchange.takeReady { loop.execute { multi in exchange.resume(in: multi) } }
  }

  func abort() {
    let exchange: Exchange? = state.withLock { state in
      defer { state = .aborted }
      if case .started(let exchange) = state { return exchange }
      return nil
    }
    if let exchange, !exchange.isOver { loop.execute { multi in exchange.abort(in: multi) } }
  }

  /// Returns false if the handle was aborted before.
  private func move(to next: State) -> Bool {
    state.withLock { state in
      guard case .notStarted = state else { return false }
      state = next
      return true
    }
  }

  private func exchange() throws -> Exchange {
    switch state.withLock({ $0 }) {
    case .started(let exchange): return exchange
    case .failed(let error): throw error
    case .notStarted, .aborted: throw CancellationError()
    }
  }

  deinit { abort() }
}

extension ExchangeHandle: BodySource {
  var declaredLength: Int? {
    get throws {
      let exchange = try exchange()
      guard let length = exchange.declaredLength else { return nil }
      guard length <= exchange.limits.bodyBytes else { throw exchange.bodyTooLarge }
      return length
    }
  }

  func beginPassing() -> Bool {
    guard let exchange = try? exchange(), exchange.hasClock else { return false }
    return loop.execute { _ in exchange.beginPassing() }
  }
}
