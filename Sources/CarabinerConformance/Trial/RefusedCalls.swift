internal import CConfine

/// The system calls that were refused to this process, each number once.
struct RefusedCalls: Sendable {
  /// A system call and how often it was made.
  struct Call: Sendable, Hashable {
    let name: String
    let count: Int
  }

  /// More than there are numbers.
  private static let maximumCount = 2048

  let calls: [Call]

  /// Those until now.
  static var now: RefusedCalls {
    let calls = unsafe [CConfine_refusal](unsafeUninitializedCapacity: maximumCount) { buffer, count in
      unsafe count = min(CConfine_refusals(buffer.baseAddress, buffer.count), buffer.count)
    }
    return RefusedCalls(calls: calls.map { Call(name: SystemCall.name(of: $0.number), count: Int($0.count)) })
  }

  /// One line with all of them; nil if there were none.
  var text: String? {
    guard !calls.isEmpty else { return nil }
    return "refused system calls: "
      + calls.map { $0.count == 1 ? $0.name : "\($0.name) (\($0.count) times)" }.joined(separator: ", ")
  }
}
