internal import CConfine

/// The system calls that were refused to this process and its copies, each number once.
struct RefusedCalls: Sendable {
  /// A system call and how often it was made.
  struct Call: Sendable, Hashable {
    /// -1 for all numbers that no kernel of this machine uses.
    let number: Int64
    let count: Int

    var name: String { SystemCall.name(of: number) }

    /// Whether the call is newer than this harness. A libc that is newer as well may make it on its own.
    var isNewer: Bool { number >= 0 && SystemCall.knownName(of: number) == nil }
  }

  /// The check whose rule a refused call breaks, whichever check is running.
  static let check = "PR03"

  /// The name of a system call and of a capability. With the capability, the call gives no finding. It is refused nevertheless, so
  /// no later call can use a socket.
  static let socket = "socket"

  /// The maximum number of calls that are read. There are fewer system calls.
  private static let maximumCount = 2048

  let calls: [Call]

  /// The calls that were refused until now.
  static var now: RefusedCalls {
    let calls = unsafe [CConfine_refusal](unsafeUninitializedCapacity: maximumCount) { buffer, count in
      unsafe count = min(CConfine_refusals(buffer.baseAddress, buffer.count), buffer.count)
    }
    return RefusedCalls(calls: calls.map { Call(number: $0.number, count: Int($0.count)) })
  }

  /// Whether calls are refused and counted in this process. With `--confine available`, the system may lack seccomp.
  static var areCounted: Bool { CConfine_layers() & UInt32(CCONFINE_CALLS) != 0 }

  /// A finding for each call, without the number of calls, so that the findings of several checks are equal.
  ///
  /// - Parameter declared: The capabilities of the note.
  func findings(declared: Set<String>) -> [Finding] {
    calls.filter { $0.name != Self.socket || !declared.contains(Self.socket) }.map { call in
      call.isNewer
        ? Finding(
          Self.check, .warning,
          "it made \(call.name), which is newer than this harness and was refused; find out what makes the call")
        : Finding(
          Self.check, .failure,
          "it made the system call \(call.name), which plugins may not make and which was refused; remove the call")
    }
  }

  /// One line with all calls; nil if there were none.
  var text: String? {
    guard !calls.isEmpty else { return nil }
    return "refused system calls: "
      + calls.map { $0.count == 1 ? $0.name : "\($0.name) (\($0.count) times)" }.joined(separator: ", ")
  }
}
