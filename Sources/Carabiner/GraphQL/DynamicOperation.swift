public import CarabinerWire

/// An operation that is known only at run time. Its results are JSON.
public struct DynamicOperation: GraphQLOperation {
  public typealias Data = JSONValue

  public var operationType: GraphQLOperationType
  public var operationName: String?
  public var document: String
  public var variables: JSONObject
  public var extensions: JSONObject
  /// The files that belong to the variables, and are still arriving; nil if there are none.
  package var form: UploadedForm?

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - document: The text of the document; empty for a call that is not GraphQL.
  ///   - operationName: The name of the operation to run; nil if the document has one anonymous operation.
  ///   - operationType: The type of that operation.
  ///   - variables: The variables, by name.
  ///   - extensions: The member `extensions` of the request.
  public init(
    document: String, operationName: String? = nil, operationType: GraphQLOperationType = .query,
    variables: JSONObject = [:], extensions: JSONObject = [:]
  ) {
    self.document = document
    self.operationName = operationName
    self.operationType = operationType
    self.variables = variables
    self.extensions = extensions
  }
}
