package import CarabinerWire
internal import Synchronization

/// The rules of a generation that decide which operations run.
package final class OperationRules: Sendable {
  private static let numbers = Atomic<UInt64>(0)

  /// A number that is unique in the process. A ``DocumentAnalysis`` is valid for the rules with one number.
  let number = OperationRules.numbers.add(1, ordering: .relaxed).newValue
  /// The list of operations; nil if all may run.
  let list: OperationList?
  /// The limits for operations; nil for none.
  let limits: OperationLimits?
  /// Whether clients may ask for the schema.
  let allowsIntrospection: Bool

  /// Whether the upstream gets the descriptions of operations, fragments and variables, which older servers refuse.
  let keepsDescriptions: Bool

  package init(
    list: OperationList? = nil, limits: OperationLimits? = nil, allowsIntrospection: Bool = true, keepsDescriptions: Bool = false
  ) {
    self.list = list
    self.limits = limits
    self.allowsIntrospection = allowsIntrospection
    self.keepsDescriptions = keepsDescriptions
  }

  /// The text of the document that a request names.
  ///
  /// - Throws: A refusal if the list does not allow the request.
  func document(of parameters: GraphQLParameters) throws(RequestRefusal) -> String {
    guard let list else { return try parameters.document() }
    let id = parameters.documentID ?? parameters.hash
    let listed = id.flatMap { list.text(of: $0) }
    if let text = parameters.query {
      guard list.mode != .id || listed == text else {
        throw RequestRefusal(
          400,
          "this gateway runs operations by their id only; send extensions.persistedQuery.sha256Hash or documentId, and no query",
          code: "PERSISTED_QUERY_ID_REQUIRED")
      }
      return text
    }
    if let listed { return listed }
    // A client that sends only a hash sends the text too after this error.
    if list.mode != .id, parameters.documentID == nil { return try parameters.document() }
    throw RequestRefusal(
      400, "the id of the operation is not in the gateway's list; publish the operation before a client sends its id",
      code: "PERSISTED_QUERY_NOT_IN_LIST")
  }
}

extension GraphQLParameters {
  /// The text of the document.
  ///
  /// - Throws: A refusal if the request has only a hash or an id.
  func document() throws(RequestRefusal) -> String {
    if let query { return query }
    guard hash != nil else { throw RequestRefusal(400, "the request has no query, and this gateway knows no operation by an id") }
    throw RequestRefusal(200, "PersistedQueryNotSupported", code: "PERSISTED_QUERY_NOT_SUPPORTED")
  }
}
