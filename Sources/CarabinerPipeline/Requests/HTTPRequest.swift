public import Carabiner
public import FoundationEssentials

/// A request on its way through a chain. Interceptors change it.
open class HTTPRequest<Operation: GraphQLOperation>: Hashable, CustomDebugStringConvertible {
  /// The URL of the server.
  open var graphQLEndpoint: URL
  /// The operation.
  open var operation: Operation
  /// The header fields. Their names are the same if they differ only in case.
  open var additionalHeaders: [String: String]
  /// How the cache is used.
  open var cachePolicy: CachePolicy
  /// The identifier under which changes of the store are published; nil for none.
  public let contextIdentifier: UUID?
  /// A value of the caller for the interceptors.
  public let context: (any RequestContext)?
  /// Replacements for parts of the body, which interceptors of the core set.
  var wireOverrides = WireOverrides()

  /// A request for `operation`.
  ///
  /// - Parameters:
  ///   - graphQLEndpoint: The URL of the server.
  ///   - operation: The operation.
  ///   - contextIdentifier: The identifier under which changes of the store are published.
  ///   - contentType: The media type of the body.
  ///   - clientName: The name of the client, for the statistics of the server.
  ///   - clientVersion: The version of the client.
  ///   - additionalHeaders: Further header fields. They do not replace those of the request itself.
  ///   - cachePolicy: How the cache is used.
  ///   - context: A value for the interceptors.
  public init(
    graphQLEndpoint: URL, operation: Operation, contextIdentifier: UUID? = nil, contentType: String, clientName: String,
    clientVersion: String, additionalHeaders: [String: String], cachePolicy: CachePolicy = .default,
    context: (any RequestContext)? = nil
  ) {
    self.graphQLEndpoint = graphQLEndpoint
    self.operation = operation
    self.contextIdentifier = contextIdentifier
    self.cachePolicy = cachePolicy
    self.context = context
    self.additionalHeaders = [:]
    for (name, value) in additionalHeaders.sorted(by: { $0.key < $1.key }) { setHeader(name, value) }
    setHeader("Content-Type", contentType)
    setHeader("Accept", operation.acceptedMediaTypes)
    setHeader("X-APOLLO-OPERATION-NAME", operation.operationName)
    setHeader("X-APOLLO-OPERATION-TYPE", operation.operationType.rawValue)
    setHeader(Self.identifierHeader, operation.ownIdentifier)
    setHeader("apollographql-client-name", clientName)
    setHeader("apollographql-client-version", clientVersion)
  }

  private static var identifierHeader: String { "X-APOLLO-OPERATION-ID" }

  /// Whether an interceptor of the core has replaced the document, so that the identifier of the operation does not name it.
  var replacesDocument: Bool { wireOverrides.replacesDocument(of: operation) }

  /// Sets a header field, in place of one with this name.
  open func addHeader(name: String, value: String) { setHeader(name, value) }

  /// Sets the media type of the body.
  open func updateContentType(to contentType: String) { addHeader(name: "Content-Type", value: contentType) }

  private func setHeader(_ name: String, _ value: String?) {
    guard let value else { return }
    if let other = additionalHeaders.keys.first(where: { $0 != name && $0.isSameHeaderName(as: name) }) {
      additionalHeaders[other] = nil
    }
    additionalHeaders[name] = value
  }

  /// The request as it is sent: here the endpoint and the header fields. Subclasses add the body.
  ///
  /// - Throws: An error, which the chain reports; nothing is sent then.
  open func toURLRequest() throws -> URLRequest {
    var request = URLRequest(url: graphQLEndpoint)
    for (name, value) in additionalHeaders.sorted(by: { $0.key < $1.key }) { request.headers[name] = value }
    if let identifier = operation.ownIdentifier, request.headers[Self.identifierHeader] == identifier, replacesDocument {
      request.headers.remove(Self.identifierHeader)
    }
    if let limit = (context as? any RequestContextTimeoutConfigurable)?.requestTimeout { request.timeoutInterval = limit }
    // A subscription has no deadline of its own.
    if operation.operationType == .subscription, request.timeoutInterval == 0 { request.timeoutInterval = .infinity }
    request.isIdempotent = operation.operationType != .mutation
    return request
  }

  public static func == (left: HTTPRequest, right: HTTPRequest) -> Bool {
    left === right
      || type(of: left) == type(of: right) && left.graphQLEndpoint == right.graphQLEndpoint
        && left.additionalHeaders == right.additionalHeaders && left.cachePolicy == right.cachePolicy
        && left.contextIdentifier == right.contextIdentifier && left.operation.text == right.operation.text
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(graphQLEndpoint)
    hasher.combine(additionalHeaders)
    hasher.combine(cachePolicy)
    hasher.combine(contextIdentifier)
    hasher.combine(operation.text)
  }

  /// Endpoint, operation and names of the header fields. The values are left out, because they may be secrets.
  open var debugDescription: String {
    "\(operation.operationType) \(operation.operationName ?? "(anonymous)") to \(PrintableURL(graphQLEndpoint)), "
      + "\(cachePolicy), headers: \(additionalHeaders.keys.sorted().joined(separator: ", "))"
  }
}

extension GraphQLOperation {
  /// The media types that the parser reads (`request.1`).
  fileprivate var acceptedMediaTypes: String {
    if operationType == .subscription { return AcceptedMediaTypes.subscription }
    return document.mayBeIncremental ? AcceptedMediaTypes.incremental : AcceptedMediaTypes.singleResult
  }

  /// The parts by which two operations of one type differ.
  fileprivate var text: [JSONValue] {
    [.string(document), .string(operationName ?? ""), .object(variables), .object(extensions)]
  }
}
