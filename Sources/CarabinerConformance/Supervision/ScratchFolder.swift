internal import Foundation

/// A private folder that goes with the value, whatever a child has put into it.
final class ScratchFolder: Sendable {
  let path: String

  /// - Throws: What the system says if no folder can be made.
  init(in parent: String? = nil) throws {
    let parent = parent ?? ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/tmp"
    path = "\(parent)/carabiner-conform-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { FolderTree.remove(path) }
}
