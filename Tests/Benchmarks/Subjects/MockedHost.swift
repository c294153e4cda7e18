package import Carabiner
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerWire
internal import Foundation

/// A transport with a constant response.
struct CannedTransport: HTTPTransport {
  let head: HTTPURLResponse
  let body: Data

  init(_ body: [UInt8]) throws {
    guard let url = URL(string: "http://127.0.0.1/graphql") else { throw SubjectError(description: "no URL") }
    head = HTTPURLResponse(
      url: url, statusCode: 200, headers: ["Content-Type": "application/json", "Content-Length": "\(body.count)"])
    self.body = Data(body)
  }

  func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
    HTTPResponse(response: head, chunks: PullStream(body))
  }
}

/// A client with a chain and a transport with a constant response.
package struct MockedHost: Sendable {
  package let client: ApolloClient
  package let operation = DynamicOperation(document: Samples.itemsDocument, operationName: "Items")

  package init(_ provider: any InterceptorProvider = DefaultInterceptorProvider.shared, items: Int = 9) throws {
    guard let url = URL(string: "http://127.0.0.1/graphql") else { throw SubjectError(description: "no URL") }
    client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: url, httpTransport: try CannedTransport(Samples.response(items: items))))
  }

  /// A client with a manifest that has `count` entries of one plugin in a list.
  package init(_ count: Int, of plugin: String, interceptor: String? = nil, in list: String) throws {
    let identity = interceptor.map { ", interceptor: \($0)" } ?? ""
    let names = (0..<count).map { "p\($0)" }
    let entries = names.map { "  - {name: \($0), file: \(plugin)\(identity)}\n" }.joined()
    let graphQL = ["max-retry"] + (list == "graphql" ? names : [])
    let http = (list == "http" ? names : []) + ["response-code"]
    let text = """
      carabiner: 1
      plugins:\(count == 0 ? " []" : "\n" + entries)
      chain: {graphql: [\(graphQL.joined(separator: ", "))], cache: [], http: [\(http.joined(separator: ", "))]}
      """
    try self.init(HostedChain(Manifest(text: text)))
  }

  /// Runs the operation `count` times, one after another.
  package func run(_ count: Int) async throws {
    for _ in 0..<count {
      for try await response in try client.results(of: operation, cachePolicy: .networkOnly) where response.hasErrors {
        throw SubjectError(description: "the answer has errors")
      }
    }
  }
}
