public import Foundation

/// Compiles C fixtures as plugins.
public enum FixturePlugin {
  /// The compiler refused a fixture.
  public struct CompilerFailure: Error {
    /// The output of the compiler.
    public let output: String

    /// A failure with the compiler's output.
    public init(output: String) { self.output = output }
  }

  /// A private folder for one test. It is removed with this value.
  public final class Folder: Sendable {
    /// The URL of the folder.
    public let url: URL

    /// Creates an empty folder that only this user can write to.
    public init() throws {
      url = FileManager.default.temporaryDirectory.appending(path: "carabiner-test-\(UUID().uuidString)")
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The URL of a file in the folder.
    public func file(_ name: String) -> URL { url.appending(path: name) }
  }

  /// Compiles Tests/Fixtures/Plugins/`source`.c into `folder`.
  ///
  /// - Parameter linking: Additional arguments of the linker.
  /// - Returns: The path of the plugin.
  public static func compile(
    _ source: String, defining definitions: [String] = [], into folder: Folder, name: String = "plugin.so",
    linking: [String] = []
  ) async throws -> String {
    try await compile(
      at: "\(Repository.root.path)/Tests/Fixtures/Plugins/\(source).c", defining: definitions, into: folder, name: name,
      linking: linking)
  }

  /// Compiles the C source at a path into `folder`.
  ///
  /// - Returns: The path of the plugin.
  public static func compile(
    at source: String, defining definitions: [String] = [], into folder: Folder, name: String = "plugin.so",
    linking: [String] = []
  ) async throws -> String {
    let output = folder.file(name)
    let root = Repository.root.path
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/cc"),
      ["-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(root)/Sources/CCarabiner/include"]
        + definitions.map { "-D\($0)" } + ["-o", output.path, source, "-lpthread"] + linking
    )
    guard run.status == 0 else { throw CompilerFailure(output: run.errors) }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: output.path)
    return output.path
  }
}
