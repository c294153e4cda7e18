internal import CarabinerWire
public import FoundationEssentials

/// A request that is sent as GraphQL over HTTP: POST with a JSON body.
public struct JSONRequest<Operation: GraphQLOperation>: GraphQLRequest {
  public var graphQLEndpoint: URL
  public var operation: Operation
  public var additionalHeaders: HTTPHeaders
  public var fetchBehavior: FetchBehavior
  public var writeResultsToCache: Bool
  public var requestTimeout: TimeInterval?
  public var wireOverrides = WireOverrides()
  public let context: RequestContext

  /// A request to run `operation` at `endpoint`.
  public init(
    operation: Operation, endpoint: URL, additionalHeaders: HTTPHeaders = [:],
    fetchBehavior: FetchBehavior = .networkOnly, writeResultsToCache: Bool = true, requestTimeout: TimeInterval? = nil,
    context: RequestContext = RequestContext()
  ) {
    self.operation = operation
    self.graphQLEndpoint = endpoint
    self.additionalHeaders = additionalHeaders
    self.fetchBehavior = fetchBehavior
    self.writeResultsToCache = writeResultsToCache
    self.requestTimeout = requestTimeout
    self.context = context
  }

  public func toURLRequest() throws -> URLRequest {
    var headers: HTTPHeaders = ["Content-Type": "application/json", "Accept": acceptedTypes]
    headers.replace(with: additionalHeaders)
    var request = URLRequest(
      url: graphQLEndpoint, httpMethod: "POST", headers: headers, httpBody: Data(body()),
      timeoutInterval: requestTimeout ?? 0)
    request.isIdempotent = operation.operationType != .mutation
    return request
  }

  private var acceptedTypes: String {
    operation.operationType == .subscription
      ? "multipart/mixed;subscriptionSpec=1.0,application/graphql-response+json,application/json"
      : "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json"
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
