/// The file beside a released file: a statement, and one or more signatures of it.
package struct ReleaseSidecar: Sendable, Hashable {
  /// The suffix of its name.
  package static let suffix = ".release"
  /// The largest sidecar, 16 KiB: a statement and its signatures need less.
  package static let maximumBytes = 16 << 10
  /// The most signatures.
  package static let maximumSignatures = 4

  private static let beginning = Array("-----BEGIN SSH SIGNATURE-----\n".utf8)
  private static let end = Array("\n-----END SSH SIGNATURE-----\n".utf8)

  package let statement: ReleaseStatement
  /// The bytes that are signed.
  let signedBytes: [UInt8]
  package let signatures: [SSHSignature]

  /// Reads a sidecar. No signature is checked.
  ///
  /// - Throws: ``ReleaseError`` with the code `signature`.
  package init(parsing bytes: [UInt8]) throws(ReleaseError) {
    guard bytes.count <= Self.maximumBytes else {
      throw ReleaseError(.signature, "the sidecar has more than the \(Self.maximumBytes) bytes allowed; is it the right file?")
    }
    var rest = bytes[...]
    signedBytes = Array(Self.statement(&rest))
    statement = try ReleaseStatement(parsing: signedBytes)
    var signatures: [SSHSignature] = []
    while !rest.isEmpty {
      guard signatures.count < Self.maximumSignatures else {
        throw ReleaseError(.signature, "the sidecar has more than \(Self.maximumSignatures) signatures")
      }
      signatures.append(try SSHSignature(parsing: try Self.signature(&rest)))
    }
    guard !signatures.isEmpty else {
      throw ReleaseError(.signature, "the sidecar has no signature; append the file that ssh-keygen -Y sign wrote")
    }
    self.signatures = signatures
  }

  /// The lines before the first signature.
  private static func statement(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var end = rest.startIndex
    while end < rest.endIndex, !rest[end...].starts(with: beginning) {
      end = rest[end...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
    }
    defer { rest = rest[end...] }
    return rest[..<end]
  }

  /// The bytes of the signature that the rest begins with.
  private static func signature(_ rest: inout ArraySlice<UInt8>) throws(ReleaseError) -> [UInt8] {
    guard rest.starts(with: beginning), let end = firstEnd(in: rest.dropFirst(beginning.count - 1)),
      let signature = Base64Text.decoded(rest[..<end].dropFirst(beginning.count))
    else {
      throw ReleaseError(
        .signature,
        "a signature of the sidecar is incomplete, or there is other text; append the file that ssh-keygen -Y sign wrote, "
          + "as it is")
    }
    rest = rest[(end + Self.end.count)...]
    return signature
  }

  private static func firstEnd(in bytes: ArraySlice<UInt8>) -> Int? {
    bytes.indices.first { bytes[$0] == end[0] && bytes[$0...].starts(with: end) }
  }
}
