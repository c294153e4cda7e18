import Carabiner
import CarabinerPipeline
import Foundation

// A client with delegates, as a program of the generation before 1.x has it.

/// A user who may be logged in, and whose token can be renewed.
public final class UserSession {
  public private(set) var token: String?
  public private(set) var renewals = 0
  private let queue = DispatchQueue(label: "user session")

  public init(token: String?) { self.token = token }

  func needsRenewal(after error: Error, response: CarabinerPipeline.URLResponse?) -> Bool {
    response?.statusCode == 401
  }

  func renew(_ done: @escaping (Bool) -> Void) {
    queue.async {
      self.renewals += 1
      self.token = "renewed-\(self.renewals)"
      done(true)
    }
  }
}

/// One client for the whole program, and the delegate of its transport.
public final class AuthorizedClient {
  public let session: UserSession
  public let journal = Journal()
  private let url: URL

  public init(url: URL, session: UserSession) {
    self.url = url
    self.session = session
  }

  private lazy var networkTransport = HTTPNetworkTransport(url: url, delegate: self)

  public private(set) lazy var client = CarabinerPipeline.ApolloClient(networkTransport: self.networkTransport)

  /// Releases the client, which would otherwise keep itself through its transport.
  public func close() { networkTransport.delegate = nil }
}

// MARK: - Before a request

extension AuthorizedClient: HTTPNetworkTransportPreflightDelegate {
  public func networkTransport(
    _ networkTransport: HTTPNetworkTransport, shouldSend request: CarabinerPipeline.URLRequest
  ) -> Bool {
    session.token != nil
  }

  public func networkTransport(
    _ networkTransport: HTTPNetworkTransport, willSend request: inout CarabinerPipeline.URLRequest
  ) {
    var headers = request.allHTTPHeaderFields ?? [String: String]()
    headers["Authorization"] = "Bearer \(session.token ?? "")"
    request.allHTTPHeaderFields = headers
    journal.log("send to \(request.url.path)")
  }
}

// MARK: - After a request

extension AuthorizedClient: HTTPNetworkTransportTaskCompletedDelegate {
  public func networkTransport(
    _ networkTransport: HTTPNetworkTransport, didCompleteRawTaskForRequest request: CarabinerPipeline.URLRequest,
    withData data: Data?, response: CarabinerPipeline.URLResponse?, error: Error?
  ) {
    if let error = error { journal.log("error \(error)") }
    if let response = response { journal.log("status \(response.statusCode)") }
    if let data = data { journal.log("body \(String(describing: String(bytes: data, encoding: .utf8)))") }
  }
}

// MARK: - Retries

extension AuthorizedClient: HTTPNetworkTransportRetryDelegate {
  public func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedError error: Error, for request: CarabinerPipeline.URLRequest,
    response: CarabinerPipeline.URLResponse?, retryHandler: @escaping (_ shouldRetry: Bool) -> Void
  ) {
    guard session.needsRenewal(after: error, response: response) else {
      retryHandler(false)
      return
    }
    session.renew { succeeded in retryHandler(succeeded) }
  }
}

// MARK: - Other ways to make clients

/// A client with the defaults.
public func plainClient(url: URL) -> CarabinerPipeline.ApolloClient { CarabinerPipeline.ApolloClient(url: url) }

/// A client with its own store, and all options of the transport.
public func configuredClient(url: URL, delegate: HTTPNetworkTransportDelegate?) -> CarabinerPipeline.ApolloClient {
  let configuration = URLSessionConfiguration.default
  configuration.httpAdditionalHeaders = ["X-App": "sample"]
  let transport = HTTPNetworkTransport(
    url: url, session: URLSession(configuration: configuration), sendOperationIdentifiers: false, useGETForQueries: true,
    delegate: delegate)
  return CarabinerPipeline.ApolloClient(
    networkTransport: transport, store: CarabinerPipeline.ApolloStore(cache: CarabinerPipeline.InMemoryNormalizedCache()))
}

// MARK: - Delegates in a chain of the core

/// The default chain of the core, with the delegate of a transport.
struct DelegatedProvider: Carabiner.InterceptorProvider {
  let transport: HTTPNetworkTransport

  func interceptors<Operation: Carabiner.GraphQLOperation>(
    for operation: Operation, context: Carabiner.RequestContext
  ) throws -> RequestInterceptors {
    var made = try Carabiner.DefaultInterceptorProvider.shared.interceptors(for: operation, context: context)
    made.graphQL.insert(DelegateRetryInterceptor(transport), at: 1)
    made.http.append(DelegatePreflightInterceptor(transport, context: context))
    return made
  }
}

/// The hero, fetched by a chain of the core.
public func coreHeroName(
  asking transport: HTTPNetworkTransport, over network: Carabiner.HTTPTransport
) async throws -> String? {
  let core = Carabiner.RequestChainNetworkTransport(
    interceptorProvider: DelegatedProvider(transport: transport), endpointURL: transport.url, httpTransport: network)
  return try await Carabiner.ApolloClient(networkTransport: core).fetch(query: HeroQuery(), cachePolicy: .networkOnly).data?
    .hero.name
}
