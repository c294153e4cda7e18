internal import CarabinerProvider
internal import CarabinerRelease

/// The verified statements about a manifest and the files of its plugins.
struct VerifiedReleases: Sendable {
  /// A time at which all statements were valid.
  let time: ReleaseTime
  /// The signed manifest and its text; nil if the host has no manifest.
  let manifest: (file: SignedFile, text: [UInt8])?
  /// The files of plugins, by entry.
  var plugins: [String: SignedFile] = [:]

  /// All statements, that of the manifest first.
  var statements: [ReleaseStatement] {
    let others = plugins.sorted { $0.key < $1.key }.map(\.value.statement)
    return (manifest.map { [$0.file.statement] } ?? []) + others
  }

  /// The digests for a child process that loads one of the plugins; nil if there is no manifest to read.
  func pins(of entry: String) -> ProbePins? {
    manifest.map { manifest in
      ProbePins(manifest: manifest.file.digest, plugins: plugins.filter { $0.key == entry }.mapValues(\.digest))
    }
  }

  /// The sidecars with which a later start verifies the files again; nil if there is no manifest to store.
  var signatures: KeptSignatures? {
    manifest.map { manifest in
      KeptSignatures(
        time: time.seconds, manifest: String(decoding: manifest.text, as: UTF8.self),
        manifestSidecar: String(decoding: manifest.file.sidecar, as: UTF8.self),
        plugins: plugins.mapValues { String(decoding: $0.sidecar, as: UTF8.self) })
    }
  }
}
