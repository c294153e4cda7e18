import Connect
import Dispatch

// Interceptors and clients as a program for Connect-Swift has them: with `import Connect`, and without `any`.

/// A login service that gives tokens to the paths it knows.
public final class Login: Sendable {
  public let host: String
  private let tokens: [String: String]

  /// - Parameters:
  ///   - host: The host whose requests get a token.
  ///   - tokens: The tokens by path.
  public init(host: String, tokens: [String: String]) {
    self.host = host
    self.tokens = tokens
  }

  func fetchToken(forPath path: String, completion: @escaping @Sendable (String?) -> Void) {
    DispatchQueue.global().async { completion(self.tokens[path]) }
  }
}

/// Adds a token to the requests of one host, and refuses those for which there is none.
public final class LoginInterceptor: UnaryInterceptor {
  private let login: Login

  public init(config: ProtocolClientConfig, login: Login) { self.login = login }

  @Sendable
  public func handleUnaryRequest<Message: ProtobufMessage>(
    _ request: HTTPRequest<Message>,
    proceed: @escaping @Sendable (Result<HTTPRequest<Message>, ConnectError>) -> Void
  ) {
    guard request.url.host == login.host else {
      proceed(.success(request))
      return
    }
    login.fetchToken(forPath: request.url.path) { token in
      if let token = token {
        var headers = request.headers
        headers["Authorization"] = ["Bearer \(token)"]
        proceed(
          .success(
            HTTPRequest(url: request.url, headers: headers, message: request.message, trailers: request.trailers)))
      } else {
        proceed(
          .failure(
            ConnectError(code: .unknown, message: "no token for this path", exception: nil, details: [], metadata: [:])))
      }
    }
  }

  @Sendable
  public func handleUnaryResponse<Message: ProtobufMessage>(
    _ response: ResponseMessage<Message>,
    proceed: @escaping @Sendable (ResponseMessage<Message>) -> Void
  ) {
    proceed(response)
  }
}

/// The client of a program.
public func loginClient(host: String, login: Login) -> ProtocolClient {
  ProtocolClient(
    httpClient: URLSessionHTTPClient(),
    config: ProtocolClientConfig(
      host: host, networkProtocol: .connect, codec: ProtoCodec(),
      interceptors: [InterceptorFactory { LoginInterceptor(config: $0, login: login) }]))
}
