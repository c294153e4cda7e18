internal import CarabinerRelease

/// A list of revocations and its sidecar.
struct KeptList: Sendable, Hashable {
  let bytes: [UInt8]
  let sidecar: [UInt8]
  let list: RevocationList
  let statement: ReleaseStatement

  /// - Throws: ``ReleaseError`` if one of them is malformed.
  init(bytes: [UInt8], sidecar: [UInt8]) throws(ReleaseError) {
    (self.bytes, self.sidecar) = (bytes, sidecar)
    statement = try ReleaseSidecar(parsing: sidecar).statement
    list = try RevocationList(parsing: bytes)
  }

  /// Whether list and sidecar have these bytes.
  func has(_ bytes: [UInt8], _ sidecar: [UInt8]) -> Bool { self.bytes == bytes && self.sidecar == sidecar }
}
