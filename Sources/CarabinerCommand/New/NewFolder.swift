internal import Foundation

/// A folder that is created completely or not at all.
struct NewFolder {
  private let folder: URL
  private let path: String

  /// A new folder in an existing one.
  ///
  /// - Throws: ``CommandError`` if the path exists and is not an empty folder, or the parent folder does not exist.
  init(_ name: String, in directory: String) throws {
    guard Self.isFolder(directory) else {
      throw CommandError(.invalidPath, "there is no folder \(directory); create it first, or correct --directory")
    }
    folder = URL(filePath: directory, directoryHint: .isDirectory).appending(path: name, directoryHint: .notDirectory)
    path = folder.path(percentEncoded: false)
    // Writing to a link would write to its target, so a link counts as existing, even if its target is missing.
    guard (try? FileManager.default.attributesOfItem(atPath: path)) != nil else { return }
    guard Self.isFolder(path), (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == nil else {
      throw CommandError(.invalidPath, "\(path) is there already and is not a folder; remove it, or choose another name")
    }
    guard (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty == true else {
      throw CommandError(.invalidPath, "the folder \(path) is there already and is not empty; remove it, or choose another name")
    }
  }

  /// Writes the files into a temporary folder beside the path, and renames it when all are written.
  ///
  /// - Throws: ``CommandError``. In this case the temporary folder is removed.
  func fill(_ files: [PluginTemplate.File]) throws {
    let manager = FileManager.default
    let beside = folder.deletingLastPathComponent()
    let token = UUID().uuidString.prefix(8)
    let staging = beside.appending(path: ".\(folder.lastPathComponent)-\(token)", directoryHint: .isDirectory)
    let replaced = beside.appending(path: ".\(folder.lastPathComponent)-\(token)-replaced", directoryHint: .isDirectory)
    do {
      try manager.createDirectory(at: staging, withIntermediateDirectories: false)
      for file in files {
        let place = staging.appending(path: file.path, directoryHint: .notDirectory)
        try manager.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(file.text.utf8).write(to: place)
      }
      let isThere = Self.isFolder(path)
      if isThere { try manager.moveItem(at: folder, to: replaced) }
      do {
        try manager.moveItem(at: staging, to: folder)
      } catch {
        if isThere { try? manager.moveItem(at: replaced, to: folder) }
        throw error
      }
      // The replaced folder was empty. If another process has added a file since, it is kept.
      if isThere, try manager.contentsOfDirectory(atPath: replaced.path(percentEncoded: false)).isEmpty {
        try manager.removeItem(at: replaced)
      }
    } catch {
      try? manager.removeItem(at: staging)
      throw CommandError(
        .writingFailed,
        "\(path) cannot be written: \(error.localizedDescription); choose a folder you may write to, with --directory")
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    (try? URL(filePath: path).resolvingSymlinksInPath().resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
  }
}
