public import Foundation

/// Where the tests find what they build and start.
public enum Repository {
  /// The top of the checkout.
  public static let root =
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The command as the tests' build left it.
  public static var command: URL { root.appending(path: ".build/debug/carabiner") }

  /// The Python that has the peers' packages.
  public static var python: URL {
    ProcessInfo.processInfo.environment["CARABINER_TEST_PYTHON"].map { URL(filePath: $0) }
      ?? root.appending(path: ".build/test-peers/bin/python")
  }
}
