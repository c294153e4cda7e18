internal import CConfine

/// Names of system calls.
enum SystemCall {
  /// The name in the manual; for a number this program does not know, the number.
  static func name(of number: Int64) -> String {
    knownName(of: number) ?? "system call \(number)"
  }

  /// The name in the manual; nil for a number that this program does not know.
  static func knownName(of number: Int64) -> String? {
    unsafe CConfine_callName(number).map { unsafe String(cString: $0) }
  }
}
