internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Calls a handler at the first Ctrl-C. A second Ctrl-C ends the process.
///
/// It handles the signal from its creation on, so a Ctrl-C before the handler is set is not lost. A process may have only one such
/// object at a time.
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

  init() {
    InterruptReceiver.shared.begin { [reaction] in reaction.raise() }
    // A source of Dispatch for the signal itself is registered later, on another thread. Until then, the signal would be lost.
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in InterruptReceiver.shared.note() }
    // A second signal has the default effect.
    action.sa_flags = SA_RESTART | Int32(bitPattern: UInt32(SA_RESETHAND))
    // Without descriptors, Ctrl-C ends the process.
    if InterruptReceiver.shared.isReady { _ = unsafe sigaction(SIGINT, &action, nil) }
  }

  /// Sets the handler for Ctrl-C. If the signal was raised already, it is called at once.
  func handle(with handler: @escaping @Sendable () -> Void) { reaction.handle(with: handler) }

  func stop() {
    signal(SIGINT, SIG_DFL)
    InterruptReceiver.shared.end()
  }
}

/// Passes the signal from its handler, which may do almost nothing, to a thread of Dispatch, through a pipe.
private final class InterruptReceiver: @unchecked Sendable {
  // `source` is kept, and not used after it was made. The compiler checks the rest.

  /// Made before the signal's handler is set, so that the handler only reads it.
  static let shared = InterruptReceiver()

  /// The pipe. It is never closed, because the handler may run at any time. -1 if the process had no descriptors left.
  private let readEnd: Int32
  private let writeEnd: Int32
  private let source: (any DispatchSourceRead)?
  private let reaction = Mutex<(@Sendable () -> Void)?>(nil)

  private init() {
    var ends: [Int32] = [-1, -1]
    if unsafe pipe(&ends) != 0 { ends = [-1, -1] }
    for end in ends where end >= 0 {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
    source = ends[0] < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: ends[0], queue: .global())
    source?.setEventHandler { [self] in
      if drain() { reaction.withLock(\.self)?() }
    }
    source?.activate()
  }

  var isReady: Bool { readEnd >= 0 }

  /// From now on, `reaction` is called for the signal.
  func begin(_ reaction: @escaping @Sendable () -> Void) {
    drain()
    self.reaction.withLock { $0 = reaction }
  }

  func end() { reaction.withLock { $0 = nil } }

  /// Called in the handler of the signal, where only a few functions of the system may be called.
  func note() {
    let code = errno
    var byte: UInt8 = 1
    _ = unsafe write(writeEnd, &byte, 1)
    errno = code
  }

  /// Reads all bytes from the pipe. Returns whether there were any.
  @discardableResult private func drain() -> Bool {
    guard isReady else { return false }
    var bytes = [UInt8](repeating: 0, count: 16)
    var wasRaised = false
    while unsafe read(readEnd, &bytes, bytes.count) > 0 { wasRaised = true }
    return wasRaised
  }
}
