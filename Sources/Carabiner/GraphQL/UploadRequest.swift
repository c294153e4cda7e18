internal import CarabinerWire
public import FoundationEssentials

/// A request that uploads files, according to the GraphQL multipart request specification.
///
/// It is never answered from the cache, but its results are stored as for any operation. Persisted queries are not used for it.
public struct UploadRequest<Operation: GraphQLOperation>: GraphQLRequest {
  private var request: JSONRequest<Operation>
  private let boundary: String
  /// The uploaded files, each with its variable.
  public var files: [GraphQLFile]

  /// Creates an upload.
  ///
  /// - Parameters:
  ///   - request: The operation and its settings.
  ///   - files: The files to upload.
  ///   - boundary: The delimiter of the parts, which must not occur in any of them. It is random by default.
  public init(_ request: JSONRequest<Operation>, files: [GraphQLFile], boundary: String = Self.randomBoundary()) {
    self.request = request
    self.files = files
    self.boundary = boundary
    self.request.fetchBehavior = .networkOnly
  }

  /// Returns a random boundary. It cannot be predicted, so a file that contains it cannot be prepared.
  public static func randomBoundary() -> String {
    var generator = SystemRandomNumberGenerator()
    return "carabiner-" + (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexDigits
  }

  public var carriesFiles: Bool { true }
  public var context: RequestContext { request.context }
  public var wireOptions: WireOptions { request.wireOptions }

  public var graphQLEndpoint: URL {
    get { request.graphQLEndpoint }
    set { request.graphQLEndpoint = newValue }
  }

  public var operation: Operation {
    get { request.operation }
    set { request.operation = newValue }
  }

  public var additionalHeaders: HTTPHeaders {
    get { request.additionalHeaders }
    set { request.additionalHeaders = newValue }
  }

  public var fetchBehavior: FetchBehavior {
    get { request.fetchBehavior }
    set { request.fetchBehavior = newValue }
  }

  public var writeResultsToCache: Bool {
    get { request.writeResultsToCache }
    set { request.writeResultsToCache = newValue }
  }

  public var requestTimeout: TimeInterval? {
    get { request.requestTimeout }
    set { request.requestTimeout = newValue }
  }

  public var wireOverrides: WireOverrides {
    get { request.wireOverrides }
    set { request.wireOverrides = newValue }
  }

  public func toURLRequest() throws -> URLRequest {
    guard !files.isEmpty else {
      throw RequestChainError(.invalidRequest, "the upload \(operation.displayName) has no file; add a file")
    }
    var sent = URLRequest(
      url: graphQLEndpoint, headers: request.headers(), timeoutInterval: requestTimeout ?? 0)
    sent.headers.describeForm(boundary: boundary, unlessIn: additionalHeaders)
    sent.body = .segmented(try body())
    sent.isIdempotent = operation.operationType != .mutation
    return sent
  }

  /// The form: the operation, the map, and the files.
  private func body() throws -> SegmentedBody {
    var variables = operation.variables
    // An interceptor may have replaced the variables; the replacement is valid JSON.
    if let replaced = wireOverrides.variables { variables = try JSONValue(parsing: replaced.bytes).object ?? [:] }
    let placed = try FileVariables(
      variables, files: files, document: operation.document, operationName: operation.operationName)
    return try UploadForm(boundary: boundary).body(
      operations: request.body(variables: placed.value.serialized(sortedKeys: true)), places: placed.places, files: files)
  }
}
