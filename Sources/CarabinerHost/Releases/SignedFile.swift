package import CarabinerRelease

/// A file that was accepted, with its sidecar.
package struct SignedFile: Sendable {
  package let release: VerifiedRelease
  let sidecar: [UInt8]

  package var statement: ReleaseStatement { release.statement }
  /// SHA-256 of the file.
  package var digest: String { statement.file.digest }
}
