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

  deinit {
    // A child may have taken the right to look into its own folders away.
    let tree = FileManager.default.enumerator(atPath: path)
    while let name = tree?.nextObject() as? String {
      if tree?.fileAttributes?[.type] as? FileAttributeType == .typeDirectory {
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(path)/\(name)")
      }
    }
    try? FileManager.default.removeItem(atPath: path)
  }
}
