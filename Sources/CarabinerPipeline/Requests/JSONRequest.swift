public import Carabiner
public import FoundationEssentials

/// A request with a JSON body, or with GET.
open class JSONRequest<Operation: GraphQLOperation>: HTTPRequest<Operation> {
  /// Makes the body.
  public let requestBodyCreator: any RequestBodyCreator
  /// Whether the hash of the document is sent in its place first.
  public let autoPersistQueries: Bool
  /// Whether queries are sent with GET.
  public let useGETForQueries: Bool
  /// Whether queries with a hash are sent with GET, and with GET again when the document is sent too.
  public let useGETForPersistedQueryRetry: Bool
  /// Whether the server did not know the hash, so that the document is sent with it.
  public var isPersistedQueryRetry = false
  private let sendEnhancedClientAwareness: Bool
  private let support = PersistedQuerySupport.shared

  /// A request for `operation`.
  public init(
    operation: Operation, graphQLEndpoint: URL, contextIdentifier: UUID? = nil, clientName: String, clientVersion: String,
    additionalHeaders: [String: String] = [:], cachePolicy: CachePolicy = .default, context: (any RequestContext)? = nil,
    autoPersistQueries: Bool = false, useGETForQueries: Bool = false, useGETForPersistedQueryRetry: Bool = false,
    requestBodyCreator: any RequestBodyCreator = ApolloRequestBodyCreator(), sendEnhancedClientAwareness: Bool = true
  ) {
    self.requestBodyCreator = requestBodyCreator
    self.autoPersistQueries = autoPersistQueries
    self.useGETForQueries = useGETForQueries
    self.useGETForPersistedQueryRetry = useGETForPersistedQueryRetry
    self.sendEnhancedClientAwareness = sendEnhancedClientAwareness
    super.init(
      graphQLEndpoint: graphQLEndpoint, operation: operation, contextIdentifier: contextIdentifier,
      contentType: "application/json", clientName: clientName, clientVersion: clientVersion,
      additionalHeaders: additionalHeaders, cachePolicy: cachePolicy, context: context)
  }

  /// Whether hashes are sent for this operation. Subscriptions, and servers that refused them, always get the document.
  var sendsHash: Bool {
    autoPersistQueries && operation.operationType != .subscription && !support.isRefused(by: graphQLEndpoint.absoluteString)
  }

  /// Remembers that the server does not support persisted queries.
  func refusePersistedQueries() { support.refused(by: graphQLEndpoint.absoluteString) }

  /// The body.
  open var body: JSONEncodableDictionary {
    let sendsHash = sendsHash
    return requestBodyCreator.withoutIdentifiers(if: replacesDocument).requestBody(
      for: operation, sendQueryDocument: sendsDocument, autoPersistQuery: sendsHash)
  }

  private var sendsDocument: Bool { !sendsHash || isPersistedQueryRetry }

  open override func toURLRequest() throws -> URLRequest {
    var request = try super.toURLRequest()
    let body = try body.applying(wireOverrides, sendsDocument: sendsDocument).namingLibrary(sendEnhancedClientAwareness)
    guard usesGET else {
      request.httpBody = Data(JSONValue.object(body).serialized(sortedKeys: true))
      return request
    }
    var query = URLQueryText(endpoint: graphQLEndpoint.absoluteString)
    for (name, value) in body.sorted(by: { $0.key < $1.key }) {
      if let text = value.string { query.append(name, text.utf8) } else { query.append(name, value.serialized(sortedKeys: true)) }
    }
    guard let url = URL(string: query.url) else { throw GraphQLHTTPRequestError.serializedQueryParamsMessageError }
    request.url = url
    request.httpMethod = "GET"
    request.headers.remove("Content-Type")
    // Any web page can send a GET without preflight. Servers accept it only with a header that a web page cannot set.
    if request.headers["Apollo-Require-Preflight"] == nil { request.headers["Apollo-Require-Preflight"] = "true" }
    return request
  }

  private var usesGET: Bool {
    guard operation.operationType == .query else { return false }
    guard sendsHash else { return useGETForQueries }
    return useGETForPersistedQueryRetry || useGETForQueries && !isPersistedQueryRetry
  }
}
