public import FoundationEssentials

/// An operation on its way through the chain, with the settings for sending it.
public protocol GraphQLRequest<Operation>: Sendable {
  /// The operation this request runs.
  associatedtype Operation: GraphQLOperation

  /// The URL of the server.
  var graphQLEndpoint: URL { get set }
  /// The operation to run.
  var operation: Operation { get set }
  /// Headers in addition to the defaults. They replace defaults with the same name.
  var additionalHeaders: HTTPHeaders { get set }
  /// When the chain reads the cache and when it uses the network.
  var fetchBehavior: FetchBehavior { get set }
  /// Whether results from the server are written to the cache.
  var writeResultsToCache: Bool { get set }
  /// The timeout of one attempt in seconds, including interceptors; nil for no limit.
  var requestTimeout: TimeInterval? { get set }
  /// Replacements for the document, variables and extensions of the operation. Interceptors set them.
  var wireOverrides: WireOverrides { get set }
  /// The format of the operation in an HTTP request. The default implementation returns the default options.
  var wireOptions: WireOptions { get }
  /// Whether the request uploads files. The default implementation returns false.
  var carriesFiles: Bool { get }
  /// Values that the stages of this request share. Retries keep them.
  var context: RequestContext { get }

  /// The HTTP request for this GraphQL request.
  ///
  /// - Throws: ``RequestChainError`` with code `invalidRequest`, for example if a file cannot be read.
  func toURLRequest() throws -> URLRequest
}

extension GraphQLRequest {
  public var wireOptions: WireOptions { WireOptions() }
  public var carriesFiles: Bool { false }
}
