internal import CarabinerFiles
internal import Foundation

/// A private folder that is removed with the value, with all its content.
final class ScratchFolder: Sendable {
  /// The access of the child to the folder. If the supervisor is root, the child is another user.
  enum Use: Sendable {
    /// The child may read files in it.
    case reading
    /// The child owns it.
    case writing
  }

  let path: String

  /// - Throws: The error of the system if no folder can be made, or the reason why another user could replace it.
  init(for use: Use, in parent: String? = nil) throws {
    path = "\(try Self.trusted(parent ?? Self.parent))/carabiner-conform-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    guard geteuid() == 0 else { return }
    switch use {
    case .reading:
      Self.hand(path, to: Confinement.group)
      unsafe chmod(path, 0o750)
    case .writing: unsafe chown(path, Confinement.user, Confinement.group)
    }
  }

  /// Lets the group of the child read a file or folder. It does nothing unless this process is root, because otherwise the child is
  /// the same user.
  static func hand(_ path: String, to group: gid_t = Confinement.group) {
    if geteuid() == 0 { unsafe chown(path, 0, group) }
  }

  /// The parent of new folders: the user's runtime folder. Root uses another one if its child, which is another user, cannot reach
  /// it.
  private static var parent: String {
    guard let own = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], own.hasPrefix("/") else { return "/tmp" }
    return geteuid() != 0 || isOpenToOthers(own) ? own : "/tmp"
  }

  /// The same folder by a path without links.
  ///
  /// The supervisor copies the plugin into this folder, and children run that copy: no other user may replace it in between.
  ///
  /// - Throws: ``ConformanceError`` if another user could put another folder in place.
  private static func trusted(_ parent: String) throws(ConformanceError) -> String {
    do throws(TrustedPath.Fault) {
      let folder = try TrustedPath.resolve(parent)
      return folder == "/" ? "" : folder
    } catch {
      let reason =
        switch error {
        case .absent(let reason), .unsafe(let reason): reason
        }
      throw ConformanceError(
        message: "no private folder can be made in \(parent): \(reason); correct or unset XDG_RUNTIME_DIR")
    }
  }

  /// Whether other users may pass through a folder and all those above it.
  static func isOpenToOthers(_ path: String) -> Bool {
    var place = URL(filePath: path).resolvingSymlinksInPath().path
    while true {
      var status = stat()
      guard unsafe stat(place, &status) == 0, status.st_mode & S_IXOTH != 0 else { return false }
      if place == "/" { return true }
      place = URL(filePath: place).deletingLastPathComponent().path
    }
  }

  deinit { FolderTree.remove(path) }
}
