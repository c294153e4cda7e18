public import Foundation

/// The paths of files that the tests use.
public enum Repository {
  /// The root of the checkout.
  public static let root =
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The command in the build folder of the tests.
  public static var command: URL { root.appending(path: ".build/debug/carabiner") }

  /// The Python interpreter with the packages of the peers.
  public static var python: URL {
    ProcessInfo.processInfo.environment["CARABINER_TEST_PYTHON"].map { URL(filePath: $0) }
      ?? root.appending(path: ".build/test-peers/bin/python")
  }

  /// The program that checks the rules of Prometheus.
  public static let promtool = root.appending(path: ".build/test-peers/bin/promtool")
}
