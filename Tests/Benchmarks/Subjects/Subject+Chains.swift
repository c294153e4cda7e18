internal import Carabiner
internal import Foundation

/// The operation of the mock response as a type that a person wrote.
struct ItemsQuery: GraphQLQuery {
  struct Data: Decodable, Sendable {
    struct Item: Decodable, Sendable {
      let id: String
      let name: String
      let price: Double
      let inStock: Bool
      let tags: [String]
    }

    let items: [Item]
  }

  var operationName: String? { "Items" }
  var document: String { Samples.itemsDocument }
}

/// A parser with a constant result.
private struct ConstantParser: ResponseParsingInterceptor {
  let body: ResponseBody

  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    PullStream(ParsedResult(result: GraphQLResponse(body: body, httpResponse: response.response)))
  }
}

/// The default chain without its parser.
private struct WithoutJSON: InterceptorProvider {
  let parser: ConstantParser

  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor { parser }
}

extension Subject {
  private static let uncached = RequestConfiguration(writeResultsToCache: false)

  static let chains: [Subject] = [
    Subject("chain.mock") { _ in
      let host = try MockedHost()
      return { try await host.run($0) }
    },
    Subject("chain.mock.uncached") { _ in try uncached(MockedHost()) },
    Subject("chain.mock.typed") { _ in try typed(MockedHost(), ItemsQuery()) { $0.items.count } },
    Subject("chain.typed.generated") { _ in try typed(MockedHost(), GeneratedItemsQuery()) { $0.items.count } },
    Subject("chain.mock.plain") { _ in
      try uncached(
        MockedHost(WithoutJSON(parser: ConstantParser(body: ResponseBody(Data(Samples.response(items: 9)))))))
    },
    Subject("chain.stages.0") { _ in try uncached(MockedHost(0, of: "", in: "graphql")) },
    Subject("chain.stages.1") { plugins in try uncached(MockedHost(1, of: "\(plugins)/noop.so", in: "graphql")) },
    Subject("chain.stages.11") { plugins in try uncached(MockedHost(11, of: "\(plugins)/noop.so", in: "graphql")) },
    Subject("chain.stages.200") { plugins in try uncached(MockedHost(200, of: "\(plugins)/noop.so", in: "graphql")) },
    // Each stage adds a header to the request and one to the response.
    Subject("chain.headers.1") { plugins in try uncached(MockedHost(1, of: "\(plugins)/headers.so", in: "http")) },
    Subject("chain.headers.11") { plugins in try uncached(MockedHost(11, of: "\(plugins)/headers.so", in: "http")) },
    Subject("chain.native.1") { _ in try uncached(MockedHost(mapping: 1)) },
    Subject("chain.native.11") { _ in try uncached(MockedHost(mapping: 11)) },
    // The cost must not depend on the number here: each should cost as much as one stage.
    Subject("chain.loaded.200") { plugins in try uncached(MockedHost(loaded: 200, plugins: plugins)) },
    Subject("chain.rules.1000") { plugins in try uncached(MockedHost(rules: 1000, plugins: plugins)) },
    Subject("chain.retired.300") { plugins in
      try await uncached(MockedHost(retired: 300, PluginCopies(of: "\(plugins)/noop.so")))
    },
  ]

  private static func typed<Query: GraphQLQuery>(
    _ host: MockedHost, _ query: Query, _ items: @escaping @Sendable (Query.Data) -> Int
  ) -> Work {
    { count in
      for _ in 0..<count {
        let response = try await host.client.fetch(
          query: query, cachePolicy: CachePolicy.Query.SingleResponse.networkOnly, configuration: uncached)
        guard try response.data.map(items) == 9 else { throw SubjectError(description: "not all items came") }
      }
    }
  }

  private static func uncached(_ host: MockedHost) -> Work {
    { count in
      for _ in 0..<count {
        let results = try host.client.results(of: host.operation, cachePolicy: .networkOnly, configuration: uncached)
        for try await response in results where response.source == .cache {
          throw SubjectError(description: "the answer came from the cache")
        }
      }
    }
  }
}
