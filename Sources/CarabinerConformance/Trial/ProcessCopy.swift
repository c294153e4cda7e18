internal import CTestHost
internal import Glibc

/// Copies of this process (fork), for actions of a plugin that would disturb the rest of a check.
enum ProcessCopy {
  private static let maximumSeconds: UInt32 = 20

  /// Runs work in a copy of this process.
  ///
  /// - Returns: The status that waitpid() reports.
  static func run(_ body: () -> Void) -> Int32 {
    withoutActuallyEscaping(body) { body in
      var work = body
      return unsafe withUnsafeMutablePointer(to: &work) { pointer in
        unsafe CTestHost_runApart(
          { context in unsafe context?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
      }
    }
  }

  /// A number that work in a copy of this process returns; nil if it does not end, or throws.
  static func value(_ body: () throws -> UInt64) -> UInt64? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    let status = run {
      alarm(maximumSeconds)
      guard var value = try? body() else { return }
      _ = unsafe withUnsafeBytes(of: &value) { unsafe write(ends[1], $0.baseAddress, $0.count) }
    }
    close(ends[1])
    var value: UInt64 = 0
    let count = unsafe withUnsafeMutableBytes(of: &value) { unsafe read(ends[0], $0.baseAddress, $0.count) }
    return status == 0 && count == MemoryLayout<UInt64>.size ? value : nil
  }
}
