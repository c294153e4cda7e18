/// An operation that has an identifier, under which the server knows its document.
public protocol IdentifiedOperation: GraphQLOperation {
  /// The identifier; nil if there is none.
  var operationIdentifier: String? { get }
}

extension GraphQLOperation {
  /// The identifier that the operation has itself; nil for none.
  package var ownIdentifier: String? { (self as? any IdentifiedOperation)?.operationIdentifier }
}
