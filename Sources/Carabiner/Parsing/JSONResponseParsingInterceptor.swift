package import FoundationEssentials

/// Reads a GraphQL response in JSON.
public struct JSONResponseParsingInterceptor: ResponseParsingInterceptor {
  private let limits: ResponseLimits

  /// A parser with these limits.
  public init(limits: ResponseLimits = ResponseLimits()) {
    self.limits = limits
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let head = response.response
    return PullStream { [limits, chunks = response.chunks] in
      let body = try ResponseBody(try await chunks.collected(), limits: limits)
      return .last(
        ParsedResult(
          result: GraphQLResponse(body: body, source: .server, httpResponse: head),
          cacheRecords: includeCacheRecords ? ApolloStore.records(of: body, to: request) : nil))
    }
  }
}

extension PullStream<Data> {
  /// All chunks as one; a single chunk is not copied.
  package func collected() async throws -> Data {
    var all: Data?
    while true {
      switch try await pull() {
      case .element(let chunk): all.append(chunk)
      case .last(let chunk):
        all.append(chunk)
        return all ?? Data()
      case .end: return all ?? Data()
      }
    }
  }
}

extension Data? {
  fileprivate mutating func append(_ chunk: Data) {
    if self == nil { self = chunk } else { self?.append(chunk) }
  }
}
