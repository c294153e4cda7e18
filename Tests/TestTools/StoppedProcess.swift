import Foundation
import Glibc

/// Stops other processes with a signal.
public enum StoppedProcess {
  public struct NotStopped: Error {
    public let process: Int32
  }

  /// Stops a process and waits until it is stopped: its threads run on until the first of them has taken the signal.
  public static func stop(_ process: Int32) async throws {
    guard process > 0, kill(process, SIGSTOP) == 0 else { throw NotStopped(process: process) }
    // The state follows the program's name, which is in parentheses.
    while try !String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).contains(") T ") {
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
