internal import Dispatch
internal import Foundation
internal import Synchronization

/// Turns the first Ctrl-C into a call, and leaves a second one to end the process.
///
/// It listens from its making on: what is to be cancelled can be started afterwards, and no Ctrl-C falls in between.
final class InterruptSignal {
  /// Whether the signal came, and what it does.
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

  /// Says what Ctrl-C does; it is done at once if it came already.
  func handle(with handler: @escaping @Sendable () -> Void) { reaction.handle(with: handler) }

  func stop() {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }
}
