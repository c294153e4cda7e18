internal import Dispatch
internal import Foundation
internal import Synchronization

/// Calls a handler at the first Ctrl-C. A second Ctrl-C ends the process.
///
/// It handles the signal from its creation on. A Ctrl-C before the handler is set is not lost.
final class InterruptSignal {
  /// Whether the signal was raised, and the handler.
  private final class Reaction: Sendable {
    private let state = Mutex<(wasRaised: Bool, handler: (@Sendable () -> Void)?)>((false, nil))

    func raise() {
      let handler = state.withLock { state in
        state.wasRaised = true
        return state.handler
      }
      handler?()
    }

    func handle(with handler: @escaping @Sendable () -> Void) {
      let wasRaised = state.withLock { state in
        state.handler = handler
        return state.wasRaised
      }
      if wasRaised { handler() }
    }
  }

  private let reaction = Reaction()
  private let source: any DispatchSourceSignal

  init() {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { [reaction] in
      signal(SIGINT, SIG_DFL)
      reaction.raise()
    }
    source.activate()
  }

  /// Sets the handler for Ctrl-C. If the signal was raised already, it is called at once.
  func handle(with handler: @escaping @Sendable () -> Void) { reaction.handle(with: handler) }

  func stop() {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }
}
