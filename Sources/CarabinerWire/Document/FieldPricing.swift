/// The prices of fields. ``DocumentMeasures`` walks through a document and requests the price of each field.
///
/// Without a schema, all fields have the same price. A schema may define weights.
package protocol FieldPricing: Sendable {
  /// The type of a selection set, as far as it is known.
  associatedtype Parent

  /// The names of fields whose lists may have the length that a field above them states.
  var sizedFields: Set<String> { get }

  /// The type of the outermost selection set of an operation, and its weight.
  func root(of type: GraphQLDocument.OperationDefinition.OperationType) -> (parent: Parent, weight: Double)

  /// The type of the selection set of a fragment.
  func parent(named type: String) -> Parent

  /// The price of a field, and the type of its selection set.
  func price(of field: GraphQLDocument.Field, in parent: Parent) -> (price: FieldPrice, below: Parent)

  /// The sum of the weights of the input fields that the value of a variable uses.
  func weight(of value: JSONValue, as type: String) -> Double
}
