internal import CarabinerRelease

/// A list of revocations that was accepted, and its sidecar.
struct KeptList: Sendable, Hashable {
  /// The bytes of both.
  struct Parts: Sendable, Hashable {
    let bytes: [UInt8]
    let sidecar: [UInt8]
  }

  let parts: Parts
  let list: RevocationList
  let statement: ReleaseStatement

  /// - Throws: ``ReleaseError`` if one of them is malformed.
  init(_ parts: Parts) throws(ReleaseError) {
    self.parts = parts
    list = try RevocationList(parsing: parts.bytes)
    statement = try ReleaseSidecar(parsing: parts.sidecar).statement
  }
}
