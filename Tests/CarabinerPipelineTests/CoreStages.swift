import Carabiner
import CarabinerCurl

// Interceptors of the core. Their names are those of the core, so this file does not import the 1.x generation.

typealias Curl = CarabinerCurl.CurlTransport

struct Stages: InterceptorProvider {
  var graphQL: [any GraphQLInterceptor]
  var http: [any HTTPInterceptor] = []

  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { graphQL }
  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] { http }
}

/// A provider whose parser a list of the 1.x generation does not use.
struct OwnParser: InterceptorProvider, ResponseParsingInterceptor {
  var stageName: String { "own" }

  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor { self }

  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> { .empty }
}

struct Noted: GraphQLInterceptor {
  let name: String
  let log: Log

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    log.note("\(name) pre")
    var request = request
    request.additionalHeaders["x-\(name)"] = "1"
    return await next(request).map { result in
      log.note("\(name) post")
      return result
    }
  }
}

struct NotedHTTP: HTTPInterceptor {
  let name: String
  let log: Log

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    log.note("\(name) pre")
    var request = request
    request.headers["x-\(name)"] = "1"
    let response = try await next(request)
    log.note("\(name) post")
    return response
  }
}

/// Calls the hero by another name.
struct Renaming: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).map { result in
      var result = result
      result.result = try GraphQLResponse(
        json: ["data": ["hero": ["__typename": "Droid", "id": "1", "name": "C3"]]], source: .interceptor)
      return result
    }
  }
}

struct Refusal: Error, CustomStringConvertible {
  var description: String { "refused" }
}

struct Failing: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> { throw Refusal() }
}

/// Retries after the first result of a request.
struct RetryingOnce: GraphQLInterceptor {
  private struct Retried: RequestContextKey {
    typealias Value = Bool
  }

  let log: Log

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).map { result in
      guard request.context[Retried.self] == nil else { return result }
      request.context[Retried.self] = true
      log.note("retry")
      throw RequestChain<Request>.Retry(request: request)
    }
  }
}

/// Puts a result in place of an error.
struct Recovering: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).mapErrors { _ in
      ParsedResult(
        result: try GraphQLResponse(
          json: ["data": ["hero": ["__typename": "Droid", "id": "1", "name": "recovered"]]], source: .interceptor))
    }
  }
}

struct Dropping: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> { await next(request).compactMap { _ in nil } }
}

/// Keeps the events of chains.
struct TraceLog: ChainTracer {
  /// The events of interceptors with callbacks.
  let callbacks = Log()
  /// The kinds and hooks of all other events.
  let others = Log()

  func record(_ event: StageEvent) {
    if event.hook.hasSuffix("Async") {
      callbacks.note("\(event.stage) \(event.direction.rawValue) \(event.outcome)\(event.isFailure ? "!" : "")")
    } else {
      others.note("\(event.kind.rawValue) \(event.hook)")
    }
  }
}

/// Requests a retry when a chunk of the body has this text.
struct RetriesAtText: HTTPInterceptor {
  let text: String

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    try await next(request).mapChunks { _, chunk in
      if String(decoding: chunk, as: UTF8.self).contains(text) { throw HTTPRetry() }
      return chunk
    }
  }
}

/// Sends an HTTP request again whose response has the status 503.
struct RetriesUnavailable: HTTPInterceptor {
  let log: Log

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let response = try await next(request)
    log.note("\(response.response.statusCode)")
    if response.response.statusCode == 503 { throw HTTPRetry() }
    return response
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

/// A provider whose parser has these limits, as that of a manifest.
struct LimitedParser: InterceptorProvider {
  let limits: ResponseLimits

  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor {
    JSONResponseParsingInterceptor(limits: limits)
  }
}
