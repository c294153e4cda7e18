public import Carabiner
internal import CarabinerDigest

/// An operation that has an identifier, under which the server knows its document.
public protocol IdentifiedOperation: GraphQLOperation {
  /// The identifier; nil if there is none.
  var operationIdentifier: String? { get }
}

extension GraphQLOperation {
  /// The identifier that the operation has itself; nil for none.
  var ownIdentifier: String? { (self as? any IdentifiedOperation)?.operationIdentifier }

  /// The identifier for persisted queries: its own, or else the SHA-256 of the document.
  var persistedIdentifier: String { ownIdentifier ?? document.persistedHash }
}

extension String {
  /// The hash of this document for persisted queries.
  var persistedHash: String { Digest.sha256(Array(utf8)).hexDigits }
}
