#if canImport(AsyncHTTPClient)
  internal import AsyncHTTPClient
  internal import Foundation
  internal import NIOCore
  internal import NIOHTTP1

  extension Benchmark {
    /// Other GraphQL clients, if they are built in.
    static let otherClients: [Benchmark] = [
      Benchmark(name: "asynchttpclient.c32.us", summary: "peer: AsyncHTTPClient with JSON decoding, 32 at once") { inputs in
        let server = try inputs.requireServer()
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let measured = try await cost(32, on: globalConcurrentExecutor) {
          var request = HTTPClientRequest(url: server)
          request.method = .POST
          request.headers.add(name: "Content-Type", value: "application/json")
          request.body = .bytes(ByteBuffer(string: body))
          let response = try await client.execute(request, timeout: .seconds(10))
          let bytes = try await response.body.collect(upTo: 1 << 20)
          _ = try JSONDecoder().decode(Answer.self, from: Data(bytes.readableBytesView))
        }
        try await client.shutdown()
        return measured.times("asynchttpclient.c32")
      }
    ]

    /// The fields of every response of the server.
    private struct Answer: Decodable {
      struct Contents: Decodable {}

      let data: Contents
    }
  }
#else
  extension Benchmark {
    /// The build does not include other clients.
    static let otherClients: [Benchmark] = []
  }
#endif
