internal import Carabiner
internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1

/// The operations of a request: one, or a batch where batches are allowed.
struct InboundOperations: Sendable {
  var operations: [DynamicOperation]
  /// Whether the client sent a batch. The response is then a list too.
  let isBatch: Bool

  /// Reads a request according to GraphQL over HTTP.
  ///
  /// - Throws: A refusal with its status.
  init(_ request: GatewayRequest, documents: DocumentIndex, maximumBatch: Int) throws(RequestRefusal) {
    switch request.head.method {
    case .POST:
      try Self.requirePlain(request.head.headers)
      let body = Array(request.body.readableBytesView)
      let contentType = request.header("content-type")
      if let list = try GraphQLParameters.batch(body: body, contentType: contentType, maximum: maximumBatch) {
        isBatch = true
        operations = []
        for parameters in list { operations.append(try Self.operation(parameters, documents)) }
      } else {
        isBatch = false
        operations = [try Self.operation(GraphQLParameters(body: body, contentType: contentType), documents)]
      }
    case .GET, .HEAD:
      // Protects against CSRF: a page of another site can make a browser send a GET, but not with a custom header unless CORS
      // allows it.
      guard
        request.head.headers.contains(name: "apollo-require-preflight")
          || request.head.headers.contains(name: "x-apollo-operation-name")
      else {
        throw RequestRefusal(
          400, "a GET needs the header Apollo-Require-Preflight, which shows that no other site's page made it", code: "CSRF")
      }
      isBatch = false
      operations = [try Self.operation(GraphQLParameters(urlQuery: request.query), documents)]
    default:
      throw RequestRefusal(
        405, "send operations by POST, or queries by GET", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "GET, HEAD, POST"])
    }
  }

  /// Checks that the body has no content coding (RFC 9110, 8.4 and 15.5.16).
  private static func requirePlain(_ headers: Carabiner.HTTPHeaders) throws(RequestRefusal) {
    guard headers.elements(of: "content-encoding").contains(where: { $0.lowercased() != "identity" }) else { return }
    throw RequestRefusal(
      415, "a body in a content coding such as gzip is not supported; send it without Content-Encoding",
      code: "UNSUPPORTED_CONTENT_ENCODING", headers: ["Accept-Encoding": "identity"])
  }

  /// Returns the operation that the parameters select.
  ///
  /// - Throws: A refusal with its status.
  static func operation(
    _ parameters: GraphQLParameters, _ documents: DocumentIndex
  ) throws(RequestRefusal) -> DynamicOperation {
    guard let document = parameters.query else {
      throw RequestRefusal(200, "PersistedQueryNotSupported", code: "PERSISTED_QUERY_NOT_SUPPORTED")
    }
    let (name, type) = try documents.entry(for: document).operation(named: parameters.operationName)
    if parameters.isGET, type != .query {
      throw RequestRefusal(405, "a \(type) needs POST", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "POST"])
    }
    return DynamicOperation(
      document: document, operationName: name, operationType: type, variables: parameters.variables,
      extensions: parameters.extensions)
  }
}
