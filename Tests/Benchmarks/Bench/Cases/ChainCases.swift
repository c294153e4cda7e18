internal import Carabiner
internal import CarabinerWire
internal import Foundation

/// The items of the mock response as a typed operation.
private struct ItemsQuery: GraphQLQuery {
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

/// A parser that knows the result before it sees the response.
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

extension Benchmark {
  static let chains: [Benchmark] = [
    Benchmark(name: "chain.mock", summary: "the default chain, cache write included, over a constant 1 KB") { surroundings in
      let host = try MockedHost()
      let measured = try await Measurement.of(seconds: surroundings.sampleSeconds) { try await host.run($0) }
      return measured.figures("chain.mock")
    },
    Benchmark(name: "chain.mock.uncached", summary: "the same without a cache write") { surroundings in
      let host = try MockedHost()
      let configuration = RequestConfiguration(writeResultsToCache: false)
      let measured = try await Measurement.of(seconds: surroundings.sampleSeconds) { count in
        for _ in 0..<count {
          let results = try host.client.results(of: host.operation, cachePolicy: .networkOnly, configuration: configuration)
          for try await response in results where response.hasErrors { throw CancellationError() }
        }
      }
      return measured.figures("chain.mock.uncached")
    },
    Benchmark(name: "chain.mock.typed", summary: "the same, its data decoded into a type") { surroundings in
      let host = try MockedHost()
      let configuration = RequestConfiguration(writeResultsToCache: false)
      let measured = try await Measurement.of(seconds: surroundings.sampleSeconds) { count in
        for _ in 0..<count {
          let response = try await host.client.fetch(
            query: ItemsQuery(), cachePolicy: CachePolicy.Query.SingleResponse.networkOnly, configuration: configuration)
          guard try response.data?.items.count == 9 else { throw CancellationError() }
        }
      }
      return measured.figures("chain.mock.typed")
    },
    Benchmark(name: "chain.mock.plain", summary: "the same without JSON: what the chain itself costs") { surroundings in
      let host = try MockedHost(WithoutJSON(parser: ConstantParser(body: ResponseBody(Data(Samples.response(items: 9))))))
      let configuration = RequestConfiguration(writeResultsToCache: false)
      let measured = try await Measurement.of(seconds: surroundings.sampleSeconds) { count in
        for _ in 0..<count {
          let results = try host.client.results(of: host.operation, cachePolicy: .networkOnly, configuration: configuration)
          for try await response in results where response.source == .cache { throw CancellationError() }
        }
      }
      return measured.figures("chain.mock.plain")
    },
  ]
}
