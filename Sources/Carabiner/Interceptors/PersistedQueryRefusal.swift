internal import CarabinerWire
package import FoundationEssentials

/// The reason why a server rejects the hash of a document. The client then sends the document.
package enum PersistedQueryRefusal: Sendable, Hashable {
  case notFound
  case notSupported

  /// The reason that the errors of a response give; nil if they do not reject a hash.
  package init?(_ errors: [GraphQLError]) {
    if errors.contains(where: { $0.message == "PersistedQueryNotFound" || $0.code == "PERSISTED_QUERY_NOT_FOUND" }) {
      self = .notFound
    } else if errors.contains(where: {
      $0.message == "PersistedQueryNotSupported" || $0.code == "PERSISTED_QUERY_NOT_SUPPORTED"
    }) {
      self = .notSupported
    } else {
      return nil
    }
  }

  /// The reason in a response with a status of 400 to 499, as some servers send it; nil if it does not reject a hash.
  package init?(_ head: HTTPURLResponse, body: Data) {
    guard head.mayHoldGraphQLErrors, body.isGraphQLErrorResponse,
      let errors = (try? JSONValue(parsing: [UInt8](body)))?["errors"]?.array
    else { return nil }
    self.init(errors.compactMap(\.object).map { GraphQLError($0) })
  }
}
