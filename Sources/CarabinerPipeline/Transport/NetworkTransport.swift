public import Carabiner
public import Dispatch
internal import Foundation
public import FoundationEssentials

/// Runs operations for a client.
public protocol NetworkTransport: AnyObject {
  /// Runs an operation.
  ///
  /// - Returns: The request, which can be cancelled. Releasing it does not cancel.
  func send<Operation: GraphQLOperation>(
    operation: Operation, cachePolicy: CachePolicy, contextIdentifier: UUID?, context: (any RequestContext)?,
    callbackQueue: DispatchQueue, completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable

  /// The name of the client, for the statistics of servers.
  var clientName: String { get }
  /// The version of the client, for the statistics of servers.
  var clientVersion: String { get }
}

/// Runs operations, and uploads files with them.
public protocol UploadingNetworkTransport: NetworkTransport {
  /// Runs an operation whose variables include files.
  func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], context: (any RequestContext)?, callbackQueue: DispatchQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable
}

extension NetworkTransport {
  /// The field with the name of the client.
  public static var headerFieldNameApolloClientName: String { "apollographql-client-name" }
  /// The field with the version of the client.
  public static var headerFieldNameApolloClientVersion: String { "apollographql-client-version" }

  /// The bundle identifier of the program and `-carabiner`, or `carabiner`.
  public static var defaultClientName: String { Bundle.main.bundleIdentifier.map { "\($0)-carabiner" } ?? "carabiner" }
  /// The version of the program's bundle, or `(unknown)`.
  public static var defaultClientVersion: String {
    Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String ?? "(unknown)"
  }

  public var clientName: String { Self.defaultClientName }
  public var clientVersion: String { Self.defaultClientVersion }

  /// Sets the name and version of the client in a request.
  public func addApolloClientHeaders(to request: inout URLRequest) {
    request.headers[Self.headerFieldNameApolloClientName] = clientName
    request.headers[Self.headerFieldNameApolloClientVersion] = clientVersion
  }
}
