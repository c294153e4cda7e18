import Foundation

/// A plugin of Tests/Fixtures/Plugins, compiled into a folder that goes with this value.
final class CompiledFixture: Sendable {
  struct CompilerFailure: Error {
    let output: String
  }

  let folder: URL
  let path: String

  init(_ source: String, defining definitions: [String] = []) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-\(UUID().uuidString)")
    path = folder.appending(path: "plugin.so").path
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/cc")
    compiler.arguments =
      ["-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(CommandRun.root.path)/Sources/CCarabiner/include"]
      + definitions.map { "-D\($0)" }
      + ["-o", path, "\(CommandRun.root.path)/Tests/Fixtures/Plugins/\(source).c", "-lpthread"]
    let errors = Pipe()
    compiler.standardError = errors
    try compiler.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw CompilerFailure(output: text) }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
