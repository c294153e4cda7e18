internal import CarabinerBridge
package import CarabinerDownloads
package import CarabinerManifest
package import CarabinerProvider
package import CarabinerRelease
internal import CarabinerSources

/// Checks the signatures of a manifest and of its plugins. The trust file is read when the check begins.
///
/// Each file is read once. The caller loads only files with the digests that were checked, so a file that is replaced afterwards is not
/// used.
package struct ReleaseCheck: Sendable {
  private let verifier: ReleaseVerifier
  private let serials: SerialRecord
  /// The time of the check.
  let time: ReleaseTime
  /// The sidecars that were stored with the last good state. They are accepted even if they have expired since. Nil if the sidecars are
  /// files beside the checked files.
  private let kept: KeptSignatures?

  /// Whether the sidecars are files, and not those of the last good state.
  var readsSidecars: Bool { kept == nil }

  /// - Parameters:
  ///   - serials: The serials that were in use before.
  ///   - kept: The sidecars of the last good state, to check its files; nil for other files.
  /// - Throws: ``ReleaseError`` if the trust file or a list of revocations cannot be used.
  package init(
    _ policy: TrustPolicy, serials: SerialRecord = SerialRecord(), kept: KeptSignatures? = nil
  ) throws(ReleaseError) {
    verifier = ReleaseVerifier(
      trust: try TrustFile(at: policy.file), threshold: policy.threshold,
      // At a start from the last good state the source may be unusable; ``ReleaseWatch`` reports that.
      revocations: try policy.revocations?.read(by: policy, ignoringSource: kept != nil) ?? RevocationList())
    self.serials = serials
    self.kept = kept
    time = policy.time
  }

  /// Reads a manifest. Its bytes are verified before they are parsed.
  ///
  /// - Throws: ``ReleaseError`` if it is not accepted, or ``ManifestError``.
  package func manifest(at path: String) throws -> (manifest: Manifest, file: SignedFile, text: [UInt8]) {
    var found: (file: SignedFile, text: [UInt8])?
    let manifest = try Manifest.load(path: path) { bytes throws(ReleaseError) in
      found = (try verify(manifest: bytes, at: path), bytes)
    }
    guard let found else { throw ReleaseError(.unsigned, "\(path) was not verified") }
    return (manifest, found.file, found.text)
  }

  /// Verifies the bytes of a manifest that is not in a file, and parses them.
  ///
  /// - Parameter name: The name of the manifest in messages. Its last part without the suffix must be the name in the statement.
  /// - Throws: ``ReleaseError`` if it is not accepted, or ``ManifestError``.
  func manifest(_ published: PublishedManifest, named name: String) throws -> (
    manifest: Manifest, file: SignedFile, text: [UInt8]
  ) {
    let file = try verify(manifest: published.text, at: name, published.sidecar)
    return (try Manifest(bytes: published.text, path: name, directory: nil), file, published.text)
  }

  /// Reads a manifest, and verifies its plugins too.
  ///
  /// - Parameter downloads: Downloads the files with URLs.
  /// - Returns: The manifest with the digests that were verified as pins, and the files that were downloaded.
  /// - Throws: ``ReleaseError`` for the first file that is not accepted, ``ManifestError``, or ``HostError``.
  package func pinnedManifest(
    at path: String, _ downloads: PluginDownloads
  ) throws -> (manifest: Manifest, downloaded: DownloadedPlugins) {
    let written = try manifest(at: path).manifest
    let downloaded = try downloads.files(of: written, needsSidecars: true)
    let manifest = downloaded.replacingURLs(in: written)
    var digests: [String: String] = [:]
    for plugin in manifest.plugins {
      guard case .file(let path, let pin) = plugin.source else { continue }
      digests[plugin.name] = try self.plugin(plugin, at: path, pin: pin, sidecar: downloaded.sidecars[plugin.name]).digest
    }
    return (manifest.pinning(digests), downloaded)
  }

  /// Verifies the text of a manifest with the sidecar beside it.
  ///
  /// - Throws: ``ReleaseError`` if it is not accepted.
  func verify(manifest text: [UInt8], at path: String) throws(ReleaseError) -> SignedFile {
    try verify(manifest: text, at: path, try ReleaseFile.sidecar(at: path + ReleaseSidecar.suffix))
  }

  /// Verifies the text of a manifest.
  ///
  /// - Parameter path: The path of the manifest. Its last part is the name in the statement.
  /// - Throws: ``ReleaseError`` if it is not accepted.
  func verify(manifest text: [UInt8], at path: String, _ sidecar: [UInt8]?) throws(ReleaseError) -> SignedFile {
    try verify(
      FileIdentity(of: text), sidecar, at: path, .manifest, ReleaseSubject.manifestName(path: path), "rename the file")
  }

  /// Verifies the file of a plugin, and then reads its note. No code of it runs.
  ///
  /// In the last good state, only the sidecar is verified, and the caller loads only a file with the digest in it. The file of a plugin
  /// that is switched off may have been replaced since.
  ///
  /// - Parameters:
  ///   - path: The path of its file.
  ///   - pin: The SHA-256 in the plugin's entry; nil if it has none.
  ///   - sidecar: The sidecar of a downloaded file; nil for the one beside the file.
  /// - Throws: ``ReleaseError`` if the file is not accepted, or ``HostError``.
  package func plugin(_ plugin: Manifest.Plugin, at path: String, pin: String?, sidecar: PluginSidecar? = nil) throws
    -> SignedFile
  {
    if let kept {
      let sidecar = kept.plugins[plugin.name].map { Array($0.utf8) }
      let described = try sidecar.map { bytes throws(ReleaseError) in try ReleaseSidecar(parsing: bytes).statement.file }
      let file = try verify(plugin, described ?? FileIdentity(of: []), sidecar, at: path)
      guard pin == nil || pin?.lowercased() == file.digest else {
        throw ReleaseError(.pinMismatch, "\(path): the kept statement is about another file than the manifest pins")
      }
      return file
    }
    return try PluginNote.inspect(path: path, pin: pin) { size, digest throws(ReleaseError) in
      let file = FileIdentity(size: size, digest: digest)
      guard let sidecar else {
        return try verify(plugin, file, try ReleaseFile.sidecar(at: path + ReleaseSidecar.suffix), at: path)
      }
      return try sidecar.verified { bytes throws(ReleaseError) in try verify(plugin, file, bytes, at: path) }
    }
  }

  private func verify(
    _ plugin: Manifest.Plugin, _ file: FileIdentity, _ sidecar: [UInt8]?, at path: String
  ) throws(ReleaseError) -> SignedFile {
    try verify(file, sidecar, at: path, .plugin, plugin.name, "rename the entry")
  }

  /// The files of a generation, which were all accepted.
  func releases(of manifest: (file: SignedFile, text: [UInt8])?, _ plugins: [String: SignedFile]) -> VerifiedReleases {
    let statements = (manifest.map { [$0.file] } ?? []) + plugins.values
    let areValid = statements.allSatisfy { time < $0.statement.expires }
    return VerifiedReleases(
      time: areValid ? time : kept.map { ReleaseTime(seconds: $0.time) } ?? time, manifest: manifest, plugins: plugins)
  }

  private func verify(
    _ file: FileIdentity, _ sidecar: [UInt8]?, at path: String, _ kind: ReleaseKind, _ name: String, _ remedy: String
  ) throws(ReleaseError) -> SignedFile {
    do throws(ReleaseError) {
      guard let subject = ReleaseSubject(kind, name) else {
        throw ReleaseError(
          .signature,
          "no statement can have the name \(name.prefix(ReleaseSubject.maximumNameBytes).debugDescription); \(remedy) to 1 to "
            + "\(ReleaseSubject.maximumNameBytes) of a-z, 0-9 and -")
      }
      return SignedFile(release: try verify(file, sidecar, subject), sidecar: sidecar ?? [])
    } catch {
      throw ReleaseError(error.code, "\(path): \(error.message)")
    }
  }

  private func verify(
    _ file: FileIdentity, _ sidecar: [UInt8]?, _ subject: ReleaseSubject
  ) throws(ReleaseError) -> VerifiedRelease {
    do throws(ReleaseError) {
      return try verifier.verify(sidecar, of: subject, file, at: time, serials: serials)
    } catch {
      guard error.code == .expired, let kept else { throw error }
      return try verifier.verify(sidecar, of: subject, file, at: ReleaseTime(seconds: kept.time), serials: serials)
    }
  }
}
