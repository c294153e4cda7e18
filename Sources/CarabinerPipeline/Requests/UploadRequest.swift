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
    let request = try super.toURLRequest()
    if let creator = requestBodyCreator as? RequestCreatorBody, !wireOverrides.changesBody {
      let form = try creator.form(for: operation, files: files, manualBoundary: manualBoundary)
      return request.uploading(try form.body(), boundary: form.boundary)
    }
    let body = try requestBodyCreator.withoutIdentifiers(if: replacesDocument)
      .requestBody(for: operation, sendQueryDocument: true, autoPersistQuery: false).applying(wireOverrides).namingLibrary(
        sendEnhancedClientAwareness)
    let boundary = manualBoundary ?? Carabiner.UploadRequest<Operation>.randomBoundary()
    let form = try UploadForm(boundary: boundary).body(operations: body, files: files.inFieldOrder.map(\.core))
    return request.uploading(form, boundary: boundary)
  }
}

extension URLRequest {
  /// The request with a form as its body.
  fileprivate func uploading(_ form: SegmentedBody, boundary: String) -> URLRequest {
    var request = self
    request.body = .segmented(form)
    request.headers["Content-Type"] = "multipart/form-data; boundary=\(boundary)"
    if request.headers["Apollo-Require-Preflight"] == nil { request.headers["Apollo-Require-Preflight"] = "true" }
    return request
  }
}

extension WireOverrides {
  /// Whether an interceptor of the core replaced a part of the body. It has no place in the form of a creator of the user.
  fileprivate var changesBody: Bool {
    if case .original = document { return variables != nil || !extensions.isEmpty }
    return true
  }
}
