import Foundation
import Synchronization

/// A plugin compiled for a test from one C file.
enum FixturePlugin {
  struct CompilerFailure: Error {
    let output: String
  }

  /// The repository's root.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let built = Mutex<[String: URL]>([:])

  /// A private folder for one test; it is removed with the value.
  final class Folder: Sendable {
    let url: URL

    init() throws {
      url = FileManager.default.temporaryDirectory.appending(path: "carabiner-test-\(UUID().uuidString)")
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appending(path: name) }
  }

  /// Compiles Tests/Fixtures/Plugins/`source`.c into `folder`.
  static func compile(_ source: String, defining definitions: [String] = [], into folder: Folder, name: String = "plugin.so")
    throws
    -> String
  {
    let output = folder.file(name)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/cc")
    process.arguments =
      ["-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(root.path)/Sources/CCarabiner/include"]
      + definitions.map { "-D\($0)" } + ["-o", output.path, "\(root.path)/Tests/Fixtures/Plugins/\(source).c", "-lpthread"]
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CompilerFailure(output: text) }
    unsafe chmod(output.path, 0o755)
    return output.path
  }
}
