public import CarabinerWire

/// An operation known only at run time: its results stay JSON.
public struct DynamicOperation: GraphQLOperation {
  public typealias Data = JSONValue

  public var operationType: GraphQLOperationType
  public var operationName: String?
  public var document: String
  public var variables: JSONObject
  public var extensions: JSONObject

  /// An operation of a document.
  ///
  /// - Parameters:
  ///   - document: The text of the document.
  ///   - operationName: Which operation of the document to run; nil if it holds one anonymous operation.
  ///   - operationType: What kind of operation that is.
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
