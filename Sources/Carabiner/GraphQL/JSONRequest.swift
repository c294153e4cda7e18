internal import CarabinerWire
public import FoundationEssentials

/// A request that is sent as GraphQL over HTTP: POST with a JSON body.
///
/// Its parts lie behind one reference: every stage passes the request on, and a copy then counts one reference and not ten.
public struct JSONRequest<Operation: GraphQLOperation>: GraphQLRequest {
  private var parts: Parts
  public let context: RequestContext

  /// A request to run `operation` at `endpoint`.
  public init(
    operation: Operation, endpoint: URL, additionalHeaders: HTTPHeaders = [:],
    fetchBehavior: FetchBehavior = .networkOnly, writeResultsToCache: Bool = true, requestTimeout: TimeInterval? = nil,
    context: RequestContext = RequestContext()
  ) {
    parts = Parts(
      graphQLEndpoint: endpoint, operation: operation, additionalHeaders: additionalHeaders, fetchBehavior: fetchBehavior,
      writeResultsToCache: writeResultsToCache, requestTimeout: requestTimeout)
    self.context = context
  }

  public var graphQLEndpoint: URL {
    get { parts.graphQLEndpoint }
    set { own().graphQLEndpoint = newValue }
  }

  public var operation: Operation {
    get { parts.operation }
    set { own().operation = newValue }
  }

  public var additionalHeaders: HTTPHeaders {
    get { parts.additionalHeaders }
    set { own().additionalHeaders = newValue }
  }

  public var fetchBehavior: FetchBehavior {
    get { parts.fetchBehavior }
    set { own().fetchBehavior = newValue }
  }

  public var writeResultsToCache: Bool {
    get { parts.writeResultsToCache }
    set { own().writeResultsToCache = newValue }
  }

  public var requestTimeout: TimeInterval? {
    get { parts.requestTimeout }
    set { own().requestTimeout = newValue }
  }

  public var wireOverrides: WireOverrides {
    get { parts.wireOverrides }
    set { own().wireOverrides = newValue }
  }

  /// The parts, belonging to this copy alone.
  private mutating func own() -> Parts {
    if !isKnownUniquelyReferenced(&parts) { parts = Parts(parts) }
    return parts
  }

  private final class Parts: @unchecked Sendable {
    // Written only by the one request that holds it, as every value that is copied when it is written.

    var graphQLEndpoint: URL
    var operation: Operation
    var additionalHeaders: HTTPHeaders
    var fetchBehavior: FetchBehavior
    var writeResultsToCache: Bool
    var requestTimeout: TimeInterval?
    var wireOverrides = WireOverrides()

    init(
      graphQLEndpoint: URL, operation: Operation, additionalHeaders: HTTPHeaders, fetchBehavior: FetchBehavior,
      writeResultsToCache: Bool, requestTimeout: TimeInterval?
    ) {
      self.graphQLEndpoint = graphQLEndpoint
      self.operation = operation
      self.additionalHeaders = additionalHeaders
      self.fetchBehavior = fetchBehavior
      self.writeResultsToCache = writeResultsToCache
      self.requestTimeout = requestTimeout
    }

    convenience init(_ other: Parts) {
      self.init(
        graphQLEndpoint: other.graphQLEndpoint, operation: other.operation, additionalHeaders: other.additionalHeaders,
        fetchBehavior: other.fetchBehavior, writeResultsToCache: other.writeResultsToCache,
        requestTimeout: other.requestTimeout)
      wireOverrides = other.wireOverrides
    }
  }

  public func toURLRequest() throws -> URLRequest {
    var headers = operation.operationType == .subscription ? JSONRequestHeaders.subscription : JSONRequestHeaders.singleResult
    if !additionalHeaders.isEmpty { headers.replace(with: additionalHeaders) }
    var request = URLRequest(
      url: graphQLEndpoint, httpMethod: "POST", headers: headers, httpBody: Data(body()),
      // A subscription lives as long as its caller wants.
      timeoutInterval: operation.operationType == .subscription ? .infinity : requestTimeout ?? 0)
    request.isIdempotent = operation.operationType != .mutation
    return request
  }

  /// The body with its members sorted by name, so that equal requests are equal bytes.
  private func body() -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(operation.document.utf8.count + 128)
    body.append(UInt8(ascii: "{"))
    if !wireOverrides.extensions.isEmpty {
      body.append(contentsOf: #""extensions":"#.utf8)
      body.append(contentsOf: JSONValue.object(wireOverrides.extensions).serialized(sortedKeys: true))
      body.append(UInt8(ascii: ","))
    }
    if let name = operation.operationName {
      body.append(contentsOf: #""operationName":"#.utf8)
      JSONWriter.appendString(name, to: &body)
      body.append(UInt8(ascii: ","))
    }
    switch wireOverrides.document {
    case .omitted: break
    case .original: appendQuery(operation.document, to: &body)
    case .replaced(let document): appendQuery(document, to: &body)
    }
    body.append(contentsOf: #""variables":"#.utf8)
    if let variables = wireOverrides.variables {
      body.append(contentsOf: variables.bytes)
    } else if operation.variables.isEmpty {
      body.append(contentsOf: "{}".utf8)
    } else {
      body.append(contentsOf: JSONValue.object(operation.variables).serialized())
    }
    body.append(UInt8(ascii: "}"))
    return body
  }

  private func appendQuery(_ document: String, to body: inout [UInt8]) {
    body.append(contentsOf: #""query":"#.utf8)
    JSONWriter.appendString(document, to: &body)
    body.append(UInt8(ascii: ","))
  }
}

/// The headers of a request before others replace them.
private enum JSONRequestHeaders {
  static let singleResult: HTTPHeaders = [
    "Content-Type": "application/json",
    "Accept": "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json",
  ]
  static let subscription: HTTPHeaders = [
    "Content-Type": "application/json",
    // Some servers recognise the type only by this boundary, the others take no notice.
    "Accept": "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json",
  ]
}
