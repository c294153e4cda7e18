package import Carabiner
package import FoundationEssentials

/// Runs the operations of ``SocketRequest``s.
package protocol OperationRunner: Sendable {
  /// Starts an operation and returns its results.
  ///
  /// - Parameter payload: The operation as a JSON object.
  /// - Throws: An error, which the chain reports; `CancellationError` if the operation ends without a callback.
  func results<Operation: GraphQLOperation>(
    of operation: Operation, payload: [UInt8]
  ) throws -> PullStream<GraphQLResponse<Operation>>

  /// Notes the interceptors of the core that see only HTTP, and so see nothing of this operation.
  func skipped(_ stages: [String])
}

/// A request that goes over a socket. Its header fields are not sent.
package final class SocketRequest<Operation: GraphQLOperation>: JSONRequest<Operation> {
  let runner: any OperationRunner
  private let sendsIdentifier: Bool

  /// A request for `operation`.
  ///
  /// - Parameters:
  ///   - sendsIdentifier: Whether the identifier that the operation has itself is sent as `id`.
  ///   - runner: Runs the operation.
  package init(
    operation: Operation, endpoint: URL, contextIdentifier: UUID?, clientName: String, clientVersion: String,
    cachePolicy: CachePolicy, context: (any RequestContext)?, requestBodyCreator: any RequestBodyCreator, sendsIdentifier: Bool,
    runner: any OperationRunner
  ) {
    self.runner = runner
    self.sendsIdentifier = sendsIdentifier
    super.init(
      operation: operation, graphQLEndpoint: endpoint, contextIdentifier: contextIdentifier, clientName: clientName,
      clientVersion: clientVersion, cachePolicy: cachePolicy, context: context, requestBodyCreator: requestBodyCreator,
      sendEnhancedClientAwareness: false)
  }

  package override var body: JSONEncodableDictionary {
    var body = super.body
    if sendsIdentifier, !replacesDocument, let identifier = operation.ownIdentifier { body["id"] = .string(identifier) }
    return body
  }

  /// The operation as a JSON object, with what interceptors of the core replaced.
  ///
  /// - Throws: ``GraphQLHTTPRequestError`` if the body creator returned no members.
  var payload: [UInt8] {
    get throws { JSONValue.object(try body.applying(wireOverrides).namingLibrary(false)).serialized(sortedKeys: true) }
  }
}
