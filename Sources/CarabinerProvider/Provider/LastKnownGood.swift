internal import Carabiner
internal import CarabinerBridge
internal import CarabinerDigest
internal import CarabinerFiles
package import CarabinerManifest
internal import CarabinerWire
internal import FoundationEssentials
internal import Glibc

/// A copy of the last working manifest and its plugins' files, for a host that starts with an unusable manifest.
package struct LastKnownGood: Sendable {
  private static let name = "last-good.json"
  /// The kept manifest contains absolute paths and digests, so it may be longer than the original. Beside it are the signed text and the
  /// sidecars.
  private static let maximumFileBytes = 16 * Manifest.maximumFileBytes

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
  ///
  /// - Parameter signatures: The sidecars of the files; nil if signatures are not checked.
  package func keep(
    _ manifest: Manifest, libraries: [String: PluginLibrary], signatures: KeptSignatures? = nil
  ) throws {
    guard let source = try manifest.document() else { return }
    var document = source.object ?? [:]
    var kept: Set<String> = [Self.name]
    if let plugins = document["plugins"]?.array {
      document["plugins"] = .array(
        try plugins.map { entry in
          guard var object = entry.object, let library = object["name"]?.string.flatMap({ libraries[$0] }) else { return entry }
          object["sha256"] = .string(library.digest)
          let isDownloaded = object["url"] != nil
          object["url"] = nil
          // With library-paths the file is not copied: $ORIGIN would be another folder. Downloads can be removed, so they always are.
          guard isDownloaded || object["library-paths"] == nil else { return .object(object) }
          let file = "\(library.digest).so"
          try copy(library, to: file)
          kept.insert(file)
          object["file"] = .string("\(directory)/\(file)")
          return .object(object)
        })
    }
    let record: JSONValue = [
      "path": .string(manifest.path), "manifest": .object(document), "signatures": signatures?.json ?? .null,
    ]
    try write(record.serialized(), to: Self.name, mode: 0o600)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) where !kept.contains(name) {
      try? FileManager.default.removeItem(atPath: "\(directory)/\(name)")
    }
  }

  /// The kept manifest; nil if there is none.
  ///
  /// - Throws: ``ManifestError`` if it cannot be used.
  package func manifest() throws -> Manifest? {
    guard let (path, record) = try read() else { return nil }
    return try Manifest(
      text: record["manifest"]?.description ?? "", path: path, format: .json, directory: Manifest.directory(of: path))
  }

  /// The path that the kept manifest was read from, and the sidecars, which are nil if signatures were not checked; nil if no manifest is
  /// kept.
  ///
  /// - Throws: ``ManifestError`` if they cannot be used.
  package func signed() throws -> (path: String, signatures: KeptSignatures?)? {
    guard let (path, record) = try read() else { return nil }
    switch record["signatures"] {
    case nil, .null: return (path, nil)
    case let json?:
      guard let signatures = KeptSignatures(json) else { throw unreadable }
      return (path, signatures)
    }
  }

  /// The digests of the files that the kept manifest pins; empty if there is none, or if it cannot be used.
  package func pins() -> Set<String> {
    guard let (_, record) = try? read() else { return [] }
    return Set((record["manifest"]?["plugins"]?.array ?? []).compactMap { $0["sha256"]?.string?.lowercased() })
  }

  /// The manifest with the kept copies in place of files that would be downloaded.
  package func usingCopiesOfDownloads(in manifest: Manifest) -> Manifest {
    var changed = manifest
    for index in changed.plugins.indices {
      guard case .url(_, let digest) = changed.plugins[index].source else { continue }
      let copy = "\(directory)/\(digest).so"
      if unsafe access(copy, F_OK) == 0 { changed.plugins[index].source = .file(copy, pin: digest) }
    }
    return changed
  }

  /// The manifest with the kept copies in place of the files, which may have been replaced since.
  ///
  /// - Parameter digests: SHA-256 of the files, by entry.
  package func usingCopies(in manifest: Manifest, _ digests: [String: String]) -> Manifest {
    var changed = manifest
    for index in changed.plugins.indices where changed.plugins[index].libraryPaths.isEmpty {
      let plugin = changed.plugins[index]
      guard case .file(_, let pin) = plugin.source, let digest = digests[plugin.name] else { continue }
      let copy = "\(directory)/\(digest).so"
      if unsafe access(copy, F_OK) == 0 { changed.plugins[index].source = .file(copy, pin: pin) }
    }
    return changed
  }

  /// The path of the kept manifest, and all that is kept with it.
  private func read() throws -> (path: String, record: JSONValue)? {
    guard unsafe access(path, F_OK) == 0 else { return nil }
    _ = try PrivateFile(opening: path, O_RDONLY)
    guard let text = try? BoundedFile.text(at: path, maximumBytes: Self.maximumFileBytes),
      let record = try? JSONValue(parsing: text), let original = record["path"]?.string, record["manifest"] != nil
    else { throw unreadable }
    return (original, record)
  }

  private var path: String { "\(directory)/\(Self.name)" }

  private var unreadable: ManifestError {
    ManifestError(path: path, problems: [ManifestProblem(.unreadable, "the last known good manifest cannot be read; remove it")])
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
