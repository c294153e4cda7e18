internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Calls a handler at the first Ctrl-C. A second Ctrl-C ends the process.
///
/// It handles the signal from its creation on. A Ctrl-C before the handler is set is not lost. A process has at most one at a time.
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
  private let source: (any DispatchSourceRead)?

  init() {
    let reaction = reaction
    let readEnd = InterruptPipeEnds.shared.read
    guard readEnd >= 0 else {
      // Without descriptors, Ctrl-C ends the process.
      source = nil
      return
    }
    InterruptPipeEnds.shared.drain()
    let source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: .global())
    source.setEventHandler {
      if InterruptPipeEnds.shared.drain() { reaction.raise() }
    }
    source.activate()
    self.source = source
    // A source of Dispatch for the signal itself is registered later, on another thread. Until then, the signal would be lost.
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in InterruptPipeEnds.shared.write() }
    // A second signal has the default effect.
    action.sa_flags = SA_RESTART | Int32(bitPattern: UInt32(SA_RESETHAND))
    _ = unsafe sigaction(SIGINT, &action, nil)
  }

  /// Sets the handler for Ctrl-C. If the signal was raised already, it is called at once.
  func handle(with handler: @escaping @Sendable () -> Void) { reaction.handle(with: handler) }

  func stop() {
    signal(SIGINT, SIG_DFL)
    source?.cancel()
  }
}

/// The pipe into which the signal's handler writes. It is never closed, because the handler may run at any time.
private struct InterruptPipeEnds {
  /// -1 if the process had no descriptors left.
  let read: Int32
  private let writeEnd: Int32

  /// Made before the handler is set, so that the handler only reads it.
  static let shared = InterruptPipeEnds()

  private init() {
    var ends: [Int32] = [-1, -1]
    if unsafe pipe(&ends) != 0 { ends = [-1, -1] }
    for end in ends where end >= 0 {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (read, writeEnd) = (ends[0], ends[1])
  }

  /// Called in the handler of a signal, where only a few functions of the system may be called.
  func write() {
    let code = errno
    var byte: UInt8 = 1
    _ = unsafe Glibc.write(writeEnd, &byte, 1)
    errno = code
  }

  /// Reads everything. Returns whether there was anything.
  @discardableResult func drain() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    var wasRaised = false
    while unsafe Glibc.read(read, &bytes, bytes.count) > 0 { wasRaised = true }
    return wasRaised
  }
}
