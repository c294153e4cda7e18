internal import Foundation
internal import Synchronization

/// Copies of one plugin's file, each loaded as a separate library.
///
/// A host loads a file once, even if several manifests name it. To load many libraries, the files must differ: a number after the
/// end of the code is enough.
package final class PluginCopies: Sendable {
  private let folder: URL
  private let code: Data
  private let count = Atomic<UInt64>(0)

  /// Copies of the plugin at `path`.
  package init(of path: String) throws {
    code = try Data(contentsOf: URL(filePath: path))
    folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-copies-\(UUID().uuidString)")
    // A host does not load plugins from a folder that other users can write to.
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Writes a file that differs from all earlier ones. Returns its path.
  package func next() throws -> String {
    let number = count.add(1, ordering: .relaxed).newValue
    let file = folder.appending(path: "\(number).so")
    try (code + Data("\(number)".utf8)).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return file.path
  }

  /// Writes a manifest with entries `p0`, `p1` and so on, all in the `graphql` list. Each entry is a separate library. Returns
  /// the path.
  package func manifest(plugins count: Int) throws -> String {
    let file = folder.appending(path: "manifest.yaml")
    try Data(Samples.manifest(plugins: (0..<count).map { _ in try next() }).utf8).write(to: file)
    return file.path
  }
}
