internal import Carabiner
internal import FoundationEssentials

/// A request of a ``HTTPNetworkTransport`` on its way through a chain of the core.
///
/// The HTTP request is made as in the 1.x generation, with the same rules for methods, documents and hashes.
struct DelegatedRequest<Operation: GraphQLOperation>: WrappedRequest {
  var request: Carabiner.JSONRequest<Operation>
  private let options: DelegatedRequestOptions
  /// The files of an upload; nil for any other request.
  private let files: [GraphQLFile]?

  init(
    _ operation: Operation, to url: URL, files: [GraphQLFile]?, behavior: FetchBehavior, writesResults: Bool,
    options: DelegatedRequestOptions
  ) {
    request = Carabiner.JSONRequest(
      operation: operation, endpoint: url, fetchBehavior: files == nil ? behavior : .networkOnly,
      writeResultsToCache: writesResults,
      wireOptions: WireOptions(
        persistedQueries: PersistedQueryConfiguration(isEnabled: options.sendsHashes), completesDocuments: false))
    self.options = options
    self.files = files
  }

  var carriesFiles: Bool { files != nil }

  func toURLRequest() throws -> URLRequest {
    var made = try form().toURLRequest()
    if !additionalHeaders.isEmpty { made.headers.replace(with: additionalHeaders) }
    for (name, value) in options.sessionHeaders where made.headers[name] == nil { made.headers[name] = value }
    if let limit = requestTimeout ?? options.timeout { made.timeoutInterval = limit }
    return made
  }

  /// The request in the form of the 1.x generation.
  private func form() -> HTTPRequest<Operation> {
    var overrides = wireOverrides
    let sendsHash = overrides.extensions["persistedQuery"] != nil
    // The body creator writes the hash of the operation. That of a document that an interceptor has replaced stays in its place.
    if !replacesDocument { overrides.extensions["persistedQuery"] = nil }
    let form: HTTPRequest<Operation>
    if let files {
      form = UploadRequest(
        graphQLEndpoint: graphQLEndpoint, operation: operation, clientName: options.clientName,
        clientVersion: options.clientVersion, files: files, requestBodyCreator: bodies, sendEnhancedClientAwareness: false)
    } else {
      let request = JSONRequest(
        operation: operation, graphQLEndpoint: graphQLEndpoint, clientName: options.clientName,
        clientVersion: options.clientVersion, autoPersistQueries: sendsHash,
        useGETForQueries: overrides.usesGET ?? options.usesGETForQueries,
        useGETForPersistedQueryRetry: options.usesGETForPersistedQueryRetry, requestBodyCreator: bodies,
        sendEnhancedClientAwareness: false)
      request.isPersistedQueryRetry = overrides.document != .omitted
      form = request
    }
    form.wireOverrides = overrides
    return form
  }

  private var replacesDocument: Bool { wireOverrides.replacesDocument(of: operation) }

  private var bodies: any RequestBodyCreator {
    let (made, legacy) = (options.bodies.value, options.bodies.value as? RequestCreatorBody)
    // The server does not know a document that an interceptor has changed by the identifier of the operation.
    if replacesDocument { return made.withoutIdentifiers(if: true) }
    // A creator of the 0.3x generation makes the whole form of an upload.
    guard options.sendsIdentifiers, files == nil || legacy == nil else { return made }
    return IdentifierBodies(bodies: made)
  }
}

/// The settings of a transport for one request.
struct DelegatedRequestOptions: Sendable {
  let sendsIdentifiers: Bool
  let usesGETForQueries: Bool
  let sendsHashes: Bool
  let usesGETForPersistedQueryRetry: Bool
  let bodies: Transferred<any RequestBodyCreator>
  let clientName: String
  let clientVersion: String
  /// Header fields of the session, for requests that do not have them.
  let sessionHeaders: [String: String]
  /// The timeout of the caller in seconds; nil for that of the session.
  let timeout: TimeInterval?
}

/// Bodies with the identifier of the operation in place of its document.
private struct IdentifierBodies: RequestBodyCreator {
  let bodies: any RequestBodyCreator

  func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONEncodableDictionary {
    var body = bodies.requestBody(for: operation, sendQueryDocument: sendQueryDocument, autoPersistQuery: autoPersistQuery)
    // A server that did not find a hash has asked for the document.
    if !autoPersistQuery { body["query"] = nil }
    if body["id"] == nil { body["id"] = .string(operation.persistedIdentifier) }
    return body
  }
}
