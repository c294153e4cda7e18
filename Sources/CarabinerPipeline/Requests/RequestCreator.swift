public import Carabiner
internal import FoundationEssentials

/// Makes the bodies of requests, with the arguments of the 0.3x generation.
public protocol RequestCreator {
  /// The body of a request. The default implementation has the members of GraphQL over HTTP.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - sendOperationIdentifiers: Whether an identifier of the operation's own is sent as `id`. A ``RequestChainNetworkTransport``
  ///     passes true if the operation has one. A ``HTTPNetworkTransport`` passes its option of this name.
  ///   - sendQueryDocument: Whether the document is sent.
  ///   - autoPersistQuery: Whether the hash of the document is sent.
  func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendOperationIdentifiers: Bool, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONObject

  /// The form of an upload. The default implementation follows the GraphQL multipart request specification.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - files: The files.
  ///   - sendOperationIdentifiers: Whether an identifier of the operation's own is sent as `id`. A ``RequestChainNetworkTransport``
  ///     passes true if the operation has one. A ``HTTPNetworkTransport`` passes its option of this name.
  ///   - manualBoundary: The text between the parts; nil for a random one.
  /// - Throws: An error, for example if a file cannot be read. Nothing is sent then.
  func requestMultipartFormData<Operation: GraphQLOperation>(
    for operation: Operation, files: [GraphQLFile], sendOperationIdentifiers: Bool, manualBoundary: String?
  ) throws -> MultipartFormData
}

extension RequestCreator {
  public func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendOperationIdentifiers: Bool, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONObject {
    var body = ApolloRequestBodyCreator().requestBody(
      for: operation, sendQueryDocument: sendQueryDocument, autoPersistQuery: autoPersistQuery)
    if sendOperationIdentifiers, let identifier = operation.ownIdentifier { body["id"] = .string(identifier) }
    return body
  }

  public func requestMultipartFormData<Operation: GraphQLOperation>(
    for operation: Operation, files: [GraphQLFile], sendOperationIdentifiers: Bool, manualBoundary: String?
  ) throws -> MultipartFormData {
    let body = requestBody(
      for: operation, sendOperationIdentifiers: sendOperationIdentifiers, sendQueryDocument: true, autoPersistQuery: false)
    let boundary = manualBoundary ?? Carabiner.UploadRequest<Operation>.randomBoundary()
    return MultipartFormData(
      boundary: boundary,
      form: try UploadForm(boundary: boundary).body(operations: body, files: files.inFieldOrder.map(\.core)))
  }
}

/// Makes bodies with the members of GraphQL over HTTP.
public struct ApolloRequestCreator: RequestCreator, Sendable {
  /// Creates a body creator.
  public init() {}
}

/// A creator of the 0.3x generation for requests of the later one.
struct RequestCreatorBody: RequestBodyCreator {
  let creator: any RequestCreator
  /// Whether identifiers are asked for; nil for those of operations that have one of their own.
  var sendsIdentifiers: Bool?

  func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONEncodableDictionary {
    creator.requestBody(
      for: operation, sendOperationIdentifiers: sendsIdentifiers ?? (operation.ownIdentifier != nil),
      sendQueryDocument: sendQueryDocument, autoPersistQuery: autoPersistQuery)
  }

  func form<Operation: GraphQLOperation>(
    for operation: Operation, files: [GraphQLFile], manualBoundary: String?
  ) throws -> MultipartFormData {
    try creator.requestMultipartFormData(
      for: operation, files: files, sendOperationIdentifiers: sendsIdentifiers ?? (operation.ownIdentifier != nil),
      manualBoundary: manualBoundary)
  }
}

extension [GraphQLFile] {
  /// The files in the order of their field names.
  var inFieldOrder: [GraphQLFile] {
    enumerated().sorted { ($0.element.fieldName, $0.offset) < ($1.element.fieldName, $1.offset) }.map(\.element)
  }
}
