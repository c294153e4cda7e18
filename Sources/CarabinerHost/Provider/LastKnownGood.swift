internal import Carabiner
internal import CarabinerDigest
internal import CarabinerFiles
package import CarabinerManifest
internal import CarabinerWire
internal import FoundationEssentials
internal import Glibc

/// A copy of the last working manifest and its plugins' files, for a host that starts with an unusable manifest.
package struct LastKnownGood: Sendable {
  private static let name = "last-good.json"
  /// The kept manifest contains absolute paths and digests, so it may be longer than the original.
  private static let maximumFileBytes = 4 * Manifest.maximumFileBytes

  private let directory: String

  /// Opens or creates the folder.
  ///
  /// - Parameter directory: A folder used for nothing else. It is created if it does not exist.
  /// - Throws: ``HostError`` if other users can write to it.
  package init(directory: String) throws {
    self.directory = directory
    _ = unsafe mkdir(directory, 0o700)
    _ = try PrivateFile(opening: directory, O_RDONLY | O_DIRECTORY)
  }

  /// Keeps a manifest and its loaded files, and removes the copy kept before.
  ///
  /// The earlier copy is removed only after the new one is complete.
  package func keep(_ manifest: Manifest, libraries: [String: PluginLibrary]) throws {
    guard let source = try manifest.document() else { return }
    var document = source.object ?? [:]
    var kept: Set<String> = [Self.name]
    if let plugins = document["plugins"]?.array {
      document["plugins"] = .array(
        try plugins.map { entry in
          guard var object = entry.object, let library = object["name"]?.string.flatMap({ libraries[$0] }) else { return entry }
          object["sha256"] = .string(library.digest)
          // With library-paths the file is not copied: $ORIGIN would be another folder.
          guard object["library-paths"] == nil else { return .object(object) }
          let file = "\(library.digest).so"
          try copy(library, to: file)
          kept.insert(file)
          object["file"] = .string("\(directory)/\(file)")
          return .object(object)
        })
    }
    let record: JSONValue = ["path": .string(manifest.path), "manifest": .object(document)]
    try write(record.serialized(), to: Self.name, mode: 0o600)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) where !kept.contains(name) {
      try? FileManager.default.removeItem(atPath: "\(directory)/\(name)")
    }
  }

  /// The kept manifest; nil if there is none.
  ///
  /// - Throws: ``ManifestError`` if it cannot be used.
  package func manifest() throws -> Manifest? {
    let path = "\(directory)/\(Self.name)"
    guard unsafe access(path, F_OK) == 0 else { return nil }
    _ = try PrivateFile(opening: path, O_RDONLY)
    guard let text = try? BoundedFile.text(at: path, maximumBytes: Self.maximumFileBytes),
      let record = try? JSONValue(parsing: text), let original = record["path"]?.string, let document = record["manifest"]
    else {
      throw ManifestError(
        path: path, problems: [ManifestProblem(.unreadable, "the last known good manifest cannot be read; remove it")])
    }
    let folder = original.lastIndex(of: "/").map { String(original[..<$0]) } ?? "."
    return try Manifest(text: document.description, path: original, format: .json, directory: folder.isEmpty ? "/" : folder)
  }

  private func copy(_ library: PluginLibrary, to name: String) throws {
    guard unsafe access("\(directory)/\(name)", F_OK) != 0 else { return }
    // This copies the private copy that is mapped: the operator may have replaced the original since.
    let bytes = try BoundedFile.bytes(at: library.copyPath, maximumBytes: PluginFile.maximumBytes)
    guard Digest.sha256(bytes).hexDigits == library.digest else {
      throw ManifestError(
        path: library.copyPath, problems: [ManifestProblem(.unreadable, "the private copy of \(library.path) was changed")])
    }
    try write(bytes, to: name, mode: 0o500)
  }

  /// Writes a file as a whole.
  private func write(_ bytes: [UInt8], to name: String, mode: UInt32) throws {
    do throws(FileReplacement.Fault) {
      try FileReplacement.write(bytes, to: "\(directory)/\(name)", mode: mode)
    } catch {
      throw ManifestError(
        path: directory,
        problems: [ManifestProblem(.unreadable, "\(name) cannot be put in place: \(error.reason); check the folder and the disk")]
      )
    }
  }
}
