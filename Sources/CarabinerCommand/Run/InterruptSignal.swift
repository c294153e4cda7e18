internal import Dispatch
internal import Foundation

/// Turns the first Ctrl-C into a call, and leaves a second one to end the process.
final class InterruptSignal {
  private let source: any DispatchSourceSignal

  init(_ handler: @escaping @Sendable () -> Void) {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      signal(SIGINT, SIG_DFL)
      handler()
    }
    source.activate()
  }

  func stop() {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }
}
