internal import CarabinerWire
public import FoundationEssentials

/// A request that is sent as GraphQL over HTTP: POST with a JSON body, or GET if the options say so.
///
/// Its parts are in one class instance: every stage passes the request on, and a copy then updates one reference count instead of
/// ten.
public struct JSONRequest<Operation: GraphQLOperation>: GraphQLRequest {
  private var parts: Parts
  public let context: RequestContext

  /// Creates a request that runs `operation` at `endpoint`.
  public init(
    operation: Operation, endpoint: URL, additionalHeaders: HTTPHeaders = [:],
    fetchBehavior: FetchBehavior = .networkOnly, writeResultsToCache: Bool = true, requestTimeout: TimeInterval? = nil,
    wireOptions: WireOptions = WireOptions(), context: RequestContext = RequestContext()
  ) {
    parts = Parts(
      operation,
      JSONRequestSettings(
        graphQLEndpoint: endpoint, additionalHeaders: additionalHeaders, fetchBehavior: fetchBehavior,
        writeResultsToCache: writeResultsToCache, requestTimeout: requestTimeout, wireOptions: wireOptions))
    if !operation.extensions.isEmpty { parts.settings.wireOverrides.extensions = operation.extensions }
    self.context = context
  }

  public var graphQLEndpoint: URL {
    get { parts.settings.graphQLEndpoint }
    set { own().settings.graphQLEndpoint = newValue }
  }

  public var operation: Operation {
    get { parts.operation }
    set { own().operation = newValue }
  }

  public var additionalHeaders: HTTPHeaders {
    get { parts.settings.additionalHeaders }
    set { own().settings.additionalHeaders = newValue }
  }

  public var fetchBehavior: FetchBehavior {
    get { parts.settings.fetchBehavior }
    set { own().settings.fetchBehavior = newValue }
  }

  public var writeResultsToCache: Bool {
    get { parts.settings.writeResultsToCache }
    set { own().settings.writeResultsToCache = newValue }
  }

  public var requestTimeout: TimeInterval? {
    get { parts.settings.requestTimeout }
    set { own().settings.requestTimeout = newValue }
  }

  public var wireOverrides: WireOverrides {
    get { parts.settings.wireOverrides }
    set { own().settings.wireOverrides = newValue }
  }

  public var wireOptions: WireOptions {
    get { parts.settings.wireOptions }
    set { own().settings.wireOptions = newValue }
  }

  /// The parts, copied first if they are shared.
  private mutating func own() -> Parts {
    if !isKnownUniquelyReferenced(&parts) { parts = Parts(parts.operation, parts.settings) }
    return parts
  }

  private final class Parts: @unchecked Sendable {
    // Written only when uniquely referenced, as in any copy-on-write type. So no access overlaps a write, and the runtime need not
    // check each one.

    @safe @exclusivity(unchecked) var operation: Operation
    // Not generic: the metadata of a generic struct would be looked up for each access in code that is not specialized.
    @safe @exclusivity(unchecked) var settings: JSONRequestSettings

    init(_ operation: Operation, _ settings: JSONRequestSettings) {
      self.operation = operation
      self.settings = settings
    }
  }

  public func toURLRequest() throws -> URLRequest {
    if operation.operationType == .query, wireOverrides.usesGET ?? wireOptions.usesGETForQueries { return try getRequest() }
    return URLRequest(
      url: graphQLEndpoint, httpMethod: "POST", headers: headers(), httpBody: bodyData(),
      // A subscription has no timeout.
      timeoutInterval: operation.operationType == .subscription ? .infinity : requestTimeout ?? 0,
      isIdempotent: operation.operationType != .mutation)
  }

  /// The defaults, then the name and version of the client, then the headers of the caller.
  func headers() -> HTTPHeaders {
    var headers =
      operation.operationType == .subscription
      ? JSONRequestHeaders.subscription(wireOptions.subscriptionFormat)
      : (document ?? operation.document).mayBeIncremental ? JSONRequestHeaders.incremental : JSONRequestHeaders.singleResult
    if let client = wireOptions.clientAwareness { headers.replace(with: client.headers) }
    if !additionalHeaders.isEmpty { headers.replace(with: additionalHeaders) }
    return headers
  }

  // MARK: POST

  private func bodyData() -> Data {
    let body = body()
    // With the pointer, because generic code would copy the bytes of a collection.
    return unsafe body.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
  }

  /// The body with its members sorted by name, so that equal requests are equal bytes.
  ///
  /// - Parameter variables: The variables; nil for those of the request.
  func body(variables: [UInt8]? = nil) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(operation.document.utf8.count + 128)
    body.append(UInt8(ascii: "{"))
    if let extensions {
      body.append(text: #""extensions":"#)
      body.append(contentsOf: extensions)
      body.append(UInt8(ascii: ","))
    }
    if let name = operation.operationName {
      body.append(text: #""operationName":"#)
      JSONWriter.appendString(name, to: &body)
      body.append(UInt8(ascii: ","))
    }
    if let document {
      body.append(text: #""query":"#)
      JSONWriter.appendString(document, to: &body)
      body.append(UInt8(ascii: ","))
    }
    body.append(text: #""variables":"#)
    if let variables { body.append(contentsOf: variables) } else { appendVariables(to: &body) }
    body.append(UInt8(ascii: "}"))
    return body
  }

  // MARK: GET

  /// The same members as query items of the URL, after the existing ones.
  private func getRequest() throws -> URLRequest {
    var query = URLQueryText(endpoint: graphQLEndpoint.absoluteString)
    if let extensions { query.append("extensions", extensions) }
    if let name = operation.operationName { query.append("operationName", name.utf8) }
    if let document { query.append("query", document.utf8) }
    query.append("variables", variables)
    guard let url = URL(string: query.url) else {
      throw RequestChainError(
        .invalidRequest, "\(PrintableURL(graphQLEndpoint)) takes no query items; correct the endpoint, or send queries with POST"
      )
    }
    var headers = headers()
    if additionalHeaders["Content-Type"] == nil { headers.remove("Content-Type") }
    // Any web page can send a GET without preflight. Servers accept it only with a header that a web page cannot set.
    if additionalHeaders["Apollo-Require-Preflight"] == nil { headers.add(name: "Apollo-Require-Preflight", value: "true") }
    return URLRequest(url: url, httpMethod: "GET", headers: headers, timeoutInterval: requestTimeout ?? 0)
  }

  // MARK: Members

  private var document: String? {
    switch wireOverrides.document {
    case .omitted: nil
    case .original: operation.document
    case .replaced(let document): document
    }
  }

  private var variables: [UInt8] {
    var text: [UInt8] = []
    appendVariables(to: &text)
    return text
  }

  private func appendVariables(to text: inout [UInt8]) {
    if let variables = wireOverrides.variables { return text.append(contentsOf: variables.bytes) }
    let variables = operation.variables
    if variables.isEmpty { return text.append(text: "{}") }
    JSONWriter.append(.object(variables), sortedKeys: true, to: &text)
  }

  private var extensions: [UInt8]? {
    var extensions = wireOverrides.extensions
    if wireOptions.clientAwareness?.includesLibrary == true, !extensions.contains("clientLibrary") {
      extensions["clientLibrary"] = ClientAwareness.library
    }
    return extensions.isEmpty ? nil : JSONValue.object(extensions).serialized(sortedKeys: true)
  }
}

/// All of a request but its operation.
private struct JSONRequestSettings {
  var graphQLEndpoint: URL
  var additionalHeaders: HTTPHeaders
  var fetchBehavior: FetchBehavior
  var writeResultsToCache: Bool
  var requestTimeout: TimeInterval?
  var wireOptions: WireOptions
  var wireOverrides = WireOverrides()
}

extension [UInt8] {
  /// Appends ASCII text. `append(contentsOf:)` would take three times as long for few bytes.
  fileprivate mutating func append(text: StaticString) {
    text.withUTF8Buffer { text in
      append(addingCapacity: text.count) { bytes in unsafe bytes.append(Span(_unsafeElements: text)) }
    }
  }
}

/// The headers of a request before others replace them.
private enum JSONRequestHeaders {
  static let singleResult: HTTPHeaders = ["Content-Type": "application/json", "Accept": AcceptedMediaTypes.singleResult]
  static let incremental: HTTPHeaders = ["Content-Type": "application/json", "Accept": AcceptedMediaTypes.incremental]

  static func subscription(_ format: WireOptions.SubscriptionFormat) -> HTTPHeaders {
    switch format {
    case .multipart: parts
    case .events: events
    }
  }

  // Some servers compare the whole value.
  private static let events: HTTPHeaders = ["Content-Type": "application/json", "Accept": "text/event-stream"]
  private static let parts: HTTPHeaders = ["Content-Type": "application/json", "Accept": AcceptedMediaTypes.subscription]
}
