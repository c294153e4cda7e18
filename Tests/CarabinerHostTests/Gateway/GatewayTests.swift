import Carabiner
import CarabinerCurl
import CarabinerHost
import CarabinerService
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@Suite("A gateway in one's own program")
struct GatewayTests {
  /// Starts a gateway on a free port, and returns its addresses once it listens.
  private func gateway(_ host: PluginHost) -> (Gateway, AsyncStream<[String]>) {
    let (addresses, continuation) = AsyncStream.makeStream(of: [String].self)
    var configuration = Gateway.Configuration(address: "127.0.0.1:0")
    configuration.onListening = { addresses in
      continuation.yield(addresses)
      continuation.finish()
    }
    return (Gateway(host: host, configuration: configuration), addresses)
  }

  @Test("it serves as a service, sees a reload of its host, and ends with the group; the host goes on")
  func service() async throws {
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let (gateway, listening) = gateway(host)
    let group = ServiceGroup(configuration: .init(services: [gateway], logger: Logger(label: "test")))
    let running = Task { try await group.run() }
    let address = try #require(await listening.first { _ in true }?.first)
    try await #expect(ask(address) == stamped("one"))
    try await chain.build("two")
    try await host.reload()
    try await #expect(ask(address) == stamped("two"))
    await group.triggerGracefulShutdown()
    try await running.value
    await #expect(throws: (any Error).self) { try await ask(address) }
    try await #expect(host.reload().generation == 3)
  }

  /// Counts operations.
  private final class Counting: GraphQLInterceptor {
    let count = Atomic(0)

    func intercept<Request: GraphQLRequest>(
      request: Request, next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      count.add(1, ordering: .relaxed)
      return await next(request)
    }
  }

  private struct OwnHeader: HTTPInterceptor {
    func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
      var request = request
      request.setValue("mine", forHTTPHeaderField: "X-Own")
      return try await next(request)
    }
  }

  @Test("interceptors of the program run around the stages of the manifest, in each generation, and for clients of a gateway")
  func ownInterceptors() async throws {
    let chain = try await StampedChain("one")
    let counting = Counting()
    let host = try await PluginHost(manifest: chain.manifest, graphQL: [counting], http: [OwnHeader()])
    try await #expect(ApolloClient(networkTransport: host.transport).stamp() == stamped("one mine"))
    try await chain.build("two")
    try await host.reload()
    let (gateway, listening) = gateway(host)
    let running = Task { try await gateway.run() }
    let address = try #require(await listening.first { _ in true }?.first)
    try await #expect(ask(address) == stamped("two mine"))
    #expect(counting.count.load(ordering: .relaxed) == 2)
    running.cancel()
    try await running.value
  }

  @Test("two gateways over two hosts in one process have chains of their own, and cancellation ends them")
  func twoGateways() async throws {
    let chains = (try await StampedChain("one"), try await StampedChain("two"))
    let first = gateway(try await PluginHost(manifest: chains.0.manifest))
    let second = gateway(try await PluginHost(manifest: chains.1.manifest))
    let running = [first.0, second.0].map { gateway in Task { try await gateway.run() } }
    let addresses = (
      try #require(await first.1.first { _ in true }?.first), try #require(await second.1.first { _ in true }?.first)
    )
    try await #expect(ask(addresses.0) == stamped("one"))
    try await #expect(ask(addresses.1) == stamped("two"))
    for task in running {
      task.cancel()
      try await task.value
    }
  }

  @Test(
    "a value that cannot be used is refused",
    arguments: [
      ("nowhere", "/graphql", 1, ServerError.Code.invalidConfiguration), ("127.0.0.1:0", "graphql", 1, .invalidConfiguration),
      ("127.0.0.1:0", "/graphql", 0, .invalidConfiguration), ("unix:/nowhere/socket", "/graphql", 1, .cannotListen),
    ])
  func refused(_ address: String, _ path: String, _ threads: Int, _ code: ServerError.Code) async throws {
    let chain = try await StampedChain("one")
    var configuration = Gateway.Configuration(address: address)
    configuration.path = path
    configuration.threads = threads
    let gateway = Gateway(host: try await PluginHost(manifest: chain.manifest), configuration: configuration)
    let error = await #expect(throws: ServerError.self) { try await gateway.run() }
    #expect(error?.code == code)
  }
}
