internal import Carabiner
internal import CarabinerDigest

extension GraphQLOperation {
  /// The identifier for persisted queries: its own, or else the SHA-256 of the document.
  var persistedIdentifier: String { ownIdentifier ?? document.persistedHash }
}

extension String {
  /// The hash of this document for persisted queries.
  var persistedHash: String { Digest.sha256(Array(utf8)).hexDigits }
}
