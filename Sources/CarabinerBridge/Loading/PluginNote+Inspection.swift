internal import CCarabiner

extension PluginNote {
  /// The note of a file with the right digest, whose code is not run.
  package init(of file: PluginFile, pin: String?) throws(HostError) {
    try file.check(pin)
    try self.init(inspecting: file)
  }

  /// Reads a file's note and checks that this host supports its ABI, without running any of its code.
  init(inspecting file: PluginFile) throws(HostError) {
    let image: ELFImage
    do {
      image = try ELFImage(file.bytes)
    } catch {
      throw HostError(error, path: file.path)
    }
    try self.init(of: image, path: file.path)
    guard abi.major == Int(CRB_ABI_MAJOR) else {
      throw HostError(
        .abiMajor, step: "note", path: file.path,
        "it uses ABI \(abi.major), but this host uses \(CRB_ABI_MAJOR); get a build for this host")
    }
    guard abi.minor <= Int(CRB_ABI_MINOR) else {
      throw HostError(
        .abiTooNew, step: "note", path: file.path,
        "it needs ABI \(abi.major).\(abi.minor), this host has \(CRB_ABI_MAJOR).\(CRB_ABI_MINOR); update the host, or get an older "
          + "build")
    }
  }

  /// Reads the note and the digest of a file, without running any of its code.
  package static func inspect(path: String) throws(HostError) -> (note: PluginNote, digest: String) {
    let file = try PluginFile(opening: path)
    return (try PluginNote(inspecting: file), file.digest)
  }

  /// Verifies a file, and then checks its note, without running any of its code.
  ///
  /// - Parameters:
  ///   - pin: The SHA-256 the file must have; nil for any.
  ///   - verify: Decides about the size and the SHA-256 of the file, before its contents are looked at.
  /// - Throws: ``HostError``, and errors of `verify`.
  package static func inspect<Verdict>(
    path: String, pin: String?, verifying verify: (_ size: Int, _ digest: String) throws -> Verdict
  ) throws -> Verdict {
    let file = try PluginFile(opening: path)
    let verdict = try verify(file.bytes.count, file.digest)
    _ = try PluginNote(of: file, pin: pin)
    return verdict
  }
}
