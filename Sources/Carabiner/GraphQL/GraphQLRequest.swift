public import FoundationEssentials

/// What travels down the chain: an operation, and how and where to send it.
public protocol GraphQLRequest<Operation>: Sendable {
  /// The operation this request runs.
  associatedtype Operation: GraphQLOperation

  /// Where the server is.
  var graphQLEndpoint: URL { get set }
  /// The operation to run.
  var operation: Operation { get set }
  /// Headers beside the defaults; they replace a default of the same name.
  var additionalHeaders: HTTPHeaders { get set }
  /// When the cache and when the network is asked.
  var fetchBehavior: FetchBehavior { get set }
  /// Whether results from the server are written to the cache.
  var writeResultsToCache: Bool { get set }
  /// Seconds an attempt may take from the first interceptor on; nil for no limit.
  var requestTimeout: TimeInterval? { get set }
  /// What goes on the wire instead of the operation's own document, variables and extensions.
  var wireOverrides: WireOverrides { get set }
  /// How the operation is put into an HTTP request; the defaults unless a kind of request keeps others.
  var wireOptions: WireOptions { get }
  /// Whether files travel with the operation; false unless a kind of request says otherwise.
  var carriesFiles: Bool { get }
  /// What the stages of this request share, retries included.
  var context: RequestContext { get }

  /// The HTTP request for this GraphQL request.
  ///
  /// - Throws: ``RequestChainError`` with code `invalidRequest`.
  func toURLRequest() throws -> URLRequest
}

extension GraphQLRequest {
  public var wireOptions: WireOptions { WireOptions() }
  public var carriesFiles: Bool { false }
}
