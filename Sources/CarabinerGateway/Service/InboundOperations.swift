internal import Carabiner
internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1

/// The operations of a request: one, or a list where lists are allowed.
struct InboundOperations: Sendable {
  /// An entry of a list: an operation, or the refusal that is its result.
  typealias Entry = Result<DynamicOperation, RequestRefusal>

  /// The operations that may run.
  var operations: [DynamicOperation]
  /// The entries of a list, in order; nil if the client sent no list. The response is then a list too.
  let list: [Entry]?
  /// The rule for mutations with a key, and the key; nil if it has none.
  private(set) var idempotency: (rule: IdempotencyRule, key: IdempotencyKey)?

  /// Reads the key of a mutation.
  ///
  /// - Throws: A refusal if the key cannot be used.
  mutating func identify(_ request: GatewayRequest, _ settings: GatewaySettings) throws(RequestRefusal) {
    guard let rule = settings.shared?.idempotency else { return }
    idempotency = try rule.key(request, operations, isList: list != nil).map { (rule, $0) }
  }

  /// Reads a request according to GraphQL over HTTP.
  ///
  /// - Throws: A refusal with its status.
  init(
    _ request: GatewayRequest, accepting shape: ResponseFormat, gate: OperationGate, policy: ClientPolicy?, limits: GatewayLimits
  ) throws(RequestRefusal) {
    let rules = policy?.operations
    switch request.head.method {
    case .POST:
      try Self.requirePlain(request.head.headers)
      let body = Array(request.body.readableBytesView)
      let contentType = request.header("content-type")
      if let list = try GraphQLParameters.batch(body: body, contentType: contentType, maximum: limits.maximumBatch) {
        guard !shape.takesOnlyEvents else {
          throw RequestRefusal(406, "the results of a list come as application/json; accept it", code: "NOT_ACCEPTABLE")
        }
        let entries = list.map { Self.entry($0, gate, rules) }
        self.list = entries
        operations = entries.compactMap { try? $0.get() }
      } else {
        list = nil
        operations = [try gate.operation(GraphQLParameters(body: body, contentType: contentType), rules)]
      }
    case .GET, .HEAD:
      // Protects against CSRF: a page of another site can make a browser send a GET, but not with a custom header unless CORS
      // allows it.
      let isPreflighted = Self.isPreflighted(request.head.headers)
      let isEventSource =
        request.head.method == .GET && shape.subscription == .events
        && (isPreflighted || EventSourceCheck.isAllowed(request, policy?.crossOrigin, limits.allowedOrigins))
      guard isPreflighted || isEventSource else { throw Self.forgery }
      let operation = try gate.operation(
        GraphQLParameters(urlQuery: request.query), rules, isEventSource: isEventSource)
      guard isPreflighted || operation.operationType == .subscription else { throw Self.forgery }
      list = nil
      operations = [operation]
    default:
      throw RequestRefusal(
        405, "send operations by POST, or queries by GET", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "GET, HEAD, POST"])
    }
  }

  /// One operation.
  init(_ operation: DynamicOperation) {
    operations = [operation]
    list = nil
  }

  /// Reads an entry of a list. If it is refused, the refusal is its result, and the other entries run.
  private static func entry(
    _ parameters: Result<GraphQLParameters, RequestRefusal>, _ gate: OperationGate, _ rules: OperationRules?
  ) -> Entry {
    parameters.flatMap { parameters in
      Entry { () throws(RequestRefusal) in
        let operation = try gate.operation(parameters, rules)
        guard operation.operationType != .subscription else {
          throw RequestRefusal(
            406, "a list has one result for each entry, so a subscription cannot be an entry; send it alone",
            code: "NOT_ACCEPTABLE")
        }
        return operation
      }
    }
  }

  /// Whether the request has a header that a page of another site can set only after a preflight.
  private static func isPreflighted(_ headers: Carabiner.HTTPHeaders) -> Bool {
    headers.contains(name: "apollo-require-preflight") || headers.contains(name: "x-apollo-operation-name")
  }

  /// Protects forms against CSRF: a page of another site can make a browser send a form without a preflight.
  static func requirePreflight(_ headers: Carabiner.HTTPHeaders) throws(RequestRefusal) {
    guard isPreflighted(headers) else {
      throw RequestRefusal(
        400, "an upload needs the header Apollo-Require-Preflight, which shows that no other site's page made it", code: "CSRF")
    }
  }

  private static var forgery: RequestRefusal {
    RequestRefusal(
      400, "a GET needs the header Apollo-Require-Preflight, which shows that no other site's page made it", code: "CSRF")
  }

  /// Checks that the body has no content coding (RFC 9110, 8.4 and 15.5.16).
  static func requirePlain(_ headers: Carabiner.HTTPHeaders) throws(RequestRefusal) {
    guard headers.elements(of: "content-encoding").contains(where: { $0.lowercased() != "identity" }) else { return }
    throw RequestRefusal(
      415, "a body in a content coding such as gzip is not supported; send it without Content-Encoding",
      code: "UNSUPPORTED_CONTENT_ENCODING", headers: ["Accept-Encoding": "identity"])
  }
}
