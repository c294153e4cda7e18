internal import CarabinerRESP
internal import Synchronization

/// Decides which calls a connection takes. It takes none while it is not open, and limits the commands without an answer.
final class Admission: Sendable {
  private struct State {
    var isOpen = false
    var commands = 0
    var bytes = 0
  }

  private let state = Mutex(State())
  private let maximumCommands: Int
  private let maximumBytes: Int

  init(_ limits: RedisLimits) { (maximumCommands, maximumBytes) = (limits.waitingCommands, limits.waitingBytes) }

  var isOpen: Bool { state.withLock(\.isOpen) }

  /// The number of commands without answer.
  var commands: Int { state.withLock(\.commands) }

  func setOpen(_ isOpen: Bool) { state.withLock { $0.isOpen = isOpen } }

  /// Takes a place for a call. ``release(commands:bytes:)`` must be called for it once.
  ///
  /// - Throws: ``RedisError`` with code `unavailable` or `overloaded`.
  func enter(commands: Int, bytes: Int) throws(RedisError) {
    let refusal: RedisError? = state.withLock { state in
      guard state.isOpen else { return RedisError(.unavailable, "there is no connection to Redis; the log says why") }
      guard state.commands + commands <= maximumCommands, state.bytes + bytes <= maximumBytes else {
        return RedisError(
          .overloaded,
          "\(state.commands) commands of \(state.bytes) bytes wait for Redis; check its load, or set more connections")
      }
      state.commands += commands
      state.bytes += bytes
      return nil
    }
    if let refusal { throw refusal }
  }

  func release(commands: Int, bytes: Int) {
    state.withLock { state in
      state.commands -= commands
      state.bytes -= bytes
    }
  }
}
