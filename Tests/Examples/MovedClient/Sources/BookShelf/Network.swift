import Carabiner
import CarabinerCurl
import Foundation

enum Network {
  static func client(of url: URL) throws -> ApolloClient {
    let store = ApolloStore(cache: InMemoryNormalizedCache(), policy: .generated)
    let transport = RequestChainNetworkTransport(
      interceptorProvider: AppInterceptors(), endpointURL: url, httpTransport: try CurlTransport(), store: store)
    return ApolloClient(networkTransport: transport, store: store)
  }
}

struct AppInterceptors: InterceptorProvider {
  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] {
    [FailureLog()] + DefaultInterceptorProvider.shared.graphQLInterceptors(for: operation)
  }

  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
    [Token()] + DefaultInterceptorProvider.shared.httpInterceptors(for: operation)
  }
}

/// Prints the errors of each result.
struct FailureLog: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).map { parsed in
      for error in parsed.result.errors ?? [] { print("error: \(error.message ?? "unknown")") }
      return parsed
    }
  }
}

/// Adds the token of the user.
struct Token: HTTPInterceptor {
  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    var request = request
    request.setValue("Bearer 1234", forHTTPHeaderField: "Authorization")
    return try await next(request)
  }
}
