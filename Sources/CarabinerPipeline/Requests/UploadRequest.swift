public import Carabiner
public import FoundationEssentials

/// A request whose files travel with it, by the GraphQL multipart request specification.
open class UploadRequest<Operation: GraphQLOperation>: HTTPRequest<Operation> {
  /// Makes the body.
  public let requestBodyCreator: any RequestBodyCreator
  /// The files.
  public let files: [GraphQLFile]
  /// The text between the parts; nil for a random one.
  public let manualBoundary: String?
  private let sendEnhancedClientAwareness: Bool

  /// An upload of `files`.
  public init(
    graphQLEndpoint: URL, operation: Operation, clientName: String, clientVersion: String,
    additionalHeaders: [String: String] = [:], files: [GraphQLFile], manualBoundary: String? = nil,
    context: (any RequestContext)? = nil, requestBodyCreator: any RequestBodyCreator = ApolloRequestBodyCreator(),
    sendEnhancedClientAwareness: Bool = true
  ) {
    self.requestBodyCreator = requestBodyCreator
    self.files = files
    self.manualBoundary = manualBoundary
    self.sendEnhancedClientAwareness = sendEnhancedClientAwareness
    super.init(
      graphQLEndpoint: graphQLEndpoint, operation: operation, contentType: "multipart/form-data", clientName: clientName,
      clientVersion: clientVersion, additionalHeaders: additionalHeaders, context: context)
  }

  /// The request. Each attempt opens the files on disk again.
  open override func toURLRequest() throws -> URLRequest {
    var request = try super.toURLRequest()
    let body = try requestBodyCreator.requestBody(for: operation, sendQueryDocument: true, autoPersistQuery: false)
      .applying(wireOverrides).namingLibrary(sendEnhancedClientAwareness)
    let boundary = manualBoundary ?? Carabiner.UploadRequest<Operation>.randomBoundary()
    let ordered = files.enumerated().sorted { ($0.element.fieldName, $0.offset) < ($1.element.fieldName, $1.offset) }
    request.body = .segmented(try UploadForm(boundary: boundary).body(operations: body, files: ordered.map(\.element.core)))
    request.headers["Content-Type"] = "multipart/form-data; boundary=\(boundary)"
    if request.headers["Apollo-Require-Preflight"] == nil { request.headers["Apollo-Require-Preflight"] = "true" }
    return request
  }
}
