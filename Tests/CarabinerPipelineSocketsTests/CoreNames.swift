import Carabiner

// The names of the core that tests need. A file imports the core or this generation, because both have types of the same names.

typealias WebSocketError = Carabiner.WebSocketError

struct Stages: InterceptorProvider {
  var graphQL: [any GraphQLInterceptor] = []
  var http: [any HTTPInterceptor] = []

  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { graphQL }
  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] { http }
}

/// Drops every second result.
struct EverySecond: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let count = Counter()
    return await next(request).compactMap { count.next() % 2 == 1 ? $0 : nil }
  }
}

/// Sends another document than that of the operation.
struct ReplacingDocument: GraphQLInterceptor {
  let document: String

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    var request = request
    request.wireOverrides.document = .replaced(document)
    return await next(request)
  }
}

private final class Counter: @unchecked Sendable {
  // One reader calls it.
  private var value = 0

  func next() -> Int {
    value += 1
    return value
  }
}

struct Unseen: HTTPInterceptor {
  var stageName: String { "unseen" }

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    try await next(request)
  }
}
