internal import Carabiner
internal import Synchronization

/// The facts of an exchange that a call and our HTTP client share beyond ``HTTPClientInterface``.
package final class Exchange: Sendable {
  /// The call, as HTTP interceptors of the core see it.
  let operation: DynamicOperation
  /// Whether the body is complete before it is sent, so that it has a length and can be sent again.
  let isWhole: Bool
  /// The largest size in bytes of a unary response, and of the part of a body that waits to be sent.
  let maximumBytes: Int
  /// The client waits here until its delivered data was read.
  let flow = FlowGate()
  private let state = Mutex((status: Int?.none, isComplete: false))

  init(operation: DynamicOperation, isWhole: Bool, maximumBytes: Int) {
    self.operation = operation
    self.isWhole = isWhole
    self.maximumBytes = maximumBytes
  }

  /// The status of the response; nil before it arrives, and of a client that does not report it.
  var status: Int? {
    get { state.withLock { $0.status } }
    set { state.withLock { $0.status = newValue } }
  }

  /// Whether the rest of the body has no meaning.
  var isComplete: Bool {
    get { state.withLock { $0.isComplete } }
    set { state.withLock { $0.isComplete = newValue } }
  }
}

/// A gate at which one task waits.
final class FlowGate: Sendable {
  private struct State {
    var isOpen = true
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func close() { state.withLock { $0.isOpen = false } }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Waits until the gate is open, or the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        let mustWait = state.withLock { state in
          guard !state.isOpen, !Task.isCancelled else { return false }
          state.waiting = waiting
          return true
        }
        if !mustWait { waiting.resume() }
      }
    } onCancel: {
      open()
    }
  }
}
