extension RequestInterceptors {
  /// The interceptors, each wrapped in one that reports to a tracer. Interceptors that report themselves are not wrapped.
  func traced(by tracer: any ChainTracer) -> RequestInterceptors {
    RequestInterceptors(
      graphQL: graphQL.traced(by: tracer),
      cache: cache.traits.contains(.tracesItself) ? cache : TracedCacheInterceptor(interceptor: cache, tracer: tracer),
      http: http.traced(by: tracer),
      parser: parser.traits.contains(.tracesItself) ? parser : TracedParser(interceptor: parser, tracer: tracer),
      additionalError: additionalError)
  }
}

extension [any GraphQLInterceptor] {
  /// The interceptors, each wrapped in one that reports to a tracer. Interceptors that report themselves are not wrapped.
  package func traced(by tracer: any ChainTracer) -> [any GraphQLInterceptor] {
    map { $0.traits.contains(.tracesItself) ? $0 : TracedGraphQLInterceptor(interceptor: $0, tracer: tracer) }
  }
}

extension [any HTTPInterceptor] {
  /// The interceptors, each wrapped in one that reports to a tracer. Interceptors that report themselves are not wrapped.
  func traced(by tracer: any ChainTracer) -> [any HTTPInterceptor] {
    map { $0.traits.contains(.tracesItself) ? $0 : TracedHTTPInterceptor(interceptor: $0, tracer: tracer) }
  }
}

/// Reports what a GraphQL interceptor does. It is never idle, so that a trace shows all interceptors.
private struct TracedGraphQLInterceptor: GraphQLInterceptor {
  let interceptor: any GraphQLInterceptor
  let tracer: any ChainTracer

  var stageName: String { interceptor.stageName }

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let span = StageSpan(tracer: tracer, kind: .graphQL, stage: stageName)
    let results = try await span.intercepting {
      try await interceptor.intercept(request: request) { request in
        span.descended()
        let results = await next(request)
        span.ascended()
        return results
      }
    }
    return span.traced(results)
  }
}

/// Reports what an HTTP interceptor does. It intercepts every request, so that a trace shows it.
private struct TracedHTTPInterceptor: HTTPInterceptor {
  let interceptor: any HTTPInterceptor
  let tracer: any ChainTracer

  var stageName: String { interceptor.stageName }

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let span = StageSpan(tracer: tracer, kind: .http, stage: stageName)
    let response = try await span.intercepting {
      try await interceptor.intercept(request: request) { request in
        span.descended()
        let response = try await next(request)
        span.ascended()
        return response
      }
    }
    span.finish("head", .up, "\(response.response.statusCode)")
    return response
  }
}

/// Reports how a cache is read and written.
private struct TracedCacheInterceptor: CacheInterceptor {
  let interceptor: any CacheInterceptor
  let tracer: any ChainTracer

  var stageName: String { interceptor.stageName }
  var traits: InterceptorHints { interceptor.traits }

  private var span: StageSpan { StageSpan(tracer: tracer, kind: .cache, stage: stageName) }

  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? {
    let span = span
    do {
      let response = try await interceptor.readCacheData(from: store, request: request)
      try response?.checkType()
      span.finish("read", .down, response == nil ? "miss" : "hit")
      return response
    } catch {
      span.fail("read", .down, error)
      throw error
    }
  }

  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {
    let span = span
    do {
      try await interceptor.writeCacheData(to: store, request: request, response: response)
      span.finish("write", .up, "written")
    } catch {
      span.fail("write", .up, error)
      throw error
    }
  }
}

/// Reports the results that a parser makes.
private struct TracedParser: ResponseParsingInterceptor {
  let interceptor: any ResponseParsingInterceptor
  let tracer: any ChainTracer

  var stageName: String { interceptor.stageName }
  var traits: InterceptorHints { interceptor.traits }
  var acceptedMediaTypes: AcceptedMediaTypes? { interceptor.acceptedMediaTypes }

  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let results = try await interceptor.parse(response: response, for: request, includeCacheRecords: includeCacheRecords)
    return StageSpan(tracer: tracer, kind: .parsing, stage: stageName).traced(results)
  }
}
