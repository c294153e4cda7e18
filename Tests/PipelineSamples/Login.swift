import CarabinerPipeline
import Foundation

// Interceptors as a program of the 1.x generation has them: without Sendable, with `RequestChain` and `Error` without `any`.

/// A token of a login service.
public struct Token {
  public let value: String
  public let isExpired: Bool

  public init(value: String, isExpired: Bool) {
    self.value = value
    self.isExpired = isExpired
  }
}

/// A login that renews its tokens asynchronously.
public final class Login {
  public var token: Token?
  /// How many tokens were renewed.
  public var renewals: Int { queue.sync { count } }
  private var count = 0
  private let queue = DispatchQueue(label: "login")
  /// Called before a renewal ends.
  public var beforeRenewal: () -> Void = {}

  public init(token: Token?) { self.token = token }

  func renewToken(_ done: @escaping (Result<Token, Error>) -> Void) {
    queue.async {
      self.beforeRenewal()
      self.count += 1
      let token = Token(value: "renewed-\(self.count)", isExpired: false)
      self.token = token
      done(.success(token))
    }
  }
}

/// Adds the token of a login, and renews it first if it has expired.
public class LoginInterceptor: ApolloInterceptor {
  public enum LoginError: Error {
    case notLoggedIn
  }

  private let login: Login

  public init(login: Login) { self.login = login }

  private func addToken<Operation: GraphQLOperation>(
    _ token: Token, to request: HTTPRequest<Operation>, chain: RequestChain, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, Error>) -> Void
  ) {
    request.addHeader(name: "Authorization", value: "Bearer \(token.value)")
    chain.proceedAsync(request: request, response: response, completion: completion)
  }

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, Error>) -> Void
  ) {
    guard let token = login.token else {
      chain.handleErrorAsync(LoginError.notLoggedIn, request: request, response: response, completion: completion)
      return
    }
    guard token.isExpired else {
      return addToken(token, to: request, chain: chain, response: response, completion: completion)
    }
    login.renewToken { [weak self] renewed in
      guard let self = self else { return }
      switch renewed {
      case .failure(let error):
        chain.handleErrorAsync(error, request: request, response: response, completion: completion)
      case .success(let token):
        self.addToken(token, to: request, chain: chain, response: response, completion: completion)
      }
    }
  }
}
