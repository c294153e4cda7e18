internal import Foundation
internal import Synchronization

/// Files with the code of one plugin, each a library of its own.
///
/// A file is loaded once however often manifests name it, so a host that is to load many needs files that differ: a number
/// behind the end of the code is enough.
package final class PluginCopies: Sendable {
  private let folder: URL
  private let code: Data
  private let count = Atomic<UInt64>(0)

  /// Copies of the plugin at `path`.
  package init(of path: String) throws {
    code = try Data(contentsOf: URL(filePath: path))
    folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-copies-\(UUID().uuidString)")
    // A host takes no plugins from where others may write.
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A file that differs from all before it.
  package func next() throws -> String {
    let number = count.add(1, ordering: .relaxed).newValue
    let file = folder.appending(path: "\(number).so")
    try (code + Data("\(number)".utf8)).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return file.path
  }

  /// A manifest in a file, with entries `p0`, `p1` and so on that are libraries of their own, all of them in the `graphql` list.
  package func manifest(plugins count: Int) throws -> String {
    let file = folder.appending(path: "manifest.yaml")
    try Data(Samples.manifest(plugins: (0..<count).map { _ in try next() }).utf8).write(to: file)
    return file.path
  }
}
