import CarabinerConnect
import FoundationEssentials
import SwiftProtobuf
import TestTools
import Testing

private typealias Number = Google_Protobuf_Int32Value

@Suite("Calls of a server that is not ours", .timeLimit(.minutes(5)))
struct PeerTests {
  private let server: ConnectServer

  init() async throws { server = try await ConnectServer() }

  private func client(
    _ networkProtocol: NetworkProtocol = .connect, codec: any Codec = JSONCodec(),
    unaryGET: ProtocolClientConfig.UnaryGET = .disabled, compresses: Bool = false
  ) -> ProtocolClient {
    ProtocolClient(
      config: ProtocolClientConfig(
        host: server.host, networkProtocol: networkProtocol, codec: codec, unaryGET: unaryGET, timeout: 240,
        requestCompression: compresses ? .init(minBytes: 1, pool: GzipCompressionPool()) : nil))
  }

  /// A protocol with a codec.
  struct Dialect: Sendable, CustomTestStringConvertible {
    let networkProtocol: NetworkProtocol
    let codec: any Codec
    var compresses = false

    var testDescription: String { "\(networkProtocol) \(codec.name())\(compresses ? " gzip" : "")" }

    static let connect = [
      Dialect(networkProtocol: .connect, codec: JSONCodec()), Dialect(networkProtocol: .connect, codec: ProtoCodec()),
      Dialect(networkProtocol: .connect, codec: ProtoCodec(), compresses: true),
    ]
    static let all =
      connect + [
        Dialect(networkProtocol: .grpcWeb, codec: JSONCodec()), Dialect(networkProtocol: .grpcWeb, codec: ProtoCodec()),
        Dialect(networkProtocol: .grpcWeb, codec: ProtoCodec(), compresses: true),
      ]
  }

  private func client(_ dialect: Dialect) -> ProtocolClient {
    client(dialect.networkProtocol, codec: dialect.codec, unaryGET: .alwaysEnabled, compresses: dialect.compresses)
  }

  private static let text = Text("h\u{e9} " + String(repeating: "x", count: 2000))

  @Test("unary calls by POST and GET have message, headers and trailers", .rule("connect.1"), arguments: Dialect.connect)
  func unary(dialect: Dialect) async throws {
    for (level, name, method) in [(IdempotencyLevel.unknown, "Say", "POST"), (.noSideEffects, "Echo", "GET")] {
      let response: ResponseMessage<Text> = await client(dialect).unary(
        path: "peer.v1.Peer/\(name)", idempotencyLevel: level, request: Self.text, headers: [:])
      #expect(response.message == Self.text && response.code == .ok, "\(response)")
      #expect(response.headers["x-method"] == [method])
      #expect(response.headers["x-list"] == ["1", "2", "3"])
      #expect(response.trailers["x-end"] == ["4"])
    }
  }

  @Test(
    "a server stream has headers, messages and trailers, also before its error", .rule("connect.1", "connect.2"),
    arguments: Dialect.all)
  func serverStream(dialect: Dialect) async throws {
    for (number, code) in [(100, Code.ok), (-3, .aborted), (0, .ok)] as [(Int32, Code)] {
      let stream: any ServerOnlyAsyncStreamInterface<Number, Number> = client(dialect).serverOnlyStream(
        path: "peer.v1.Peer/Count", headers: [:])
      try stream.send(Number(number))
      let results = await read(stream.results())
      #expect(results.messages == (0..<abs(number)).map { Number($0 + 1) })
      #expect(results.headers.map { $0["x-head"] } == [["1"]])
      #expect(results.codes == [code])
      if code == .ok { #expect(results.trailers["x-end"] == ["2"]) } else { try expectDetail(results.error) }
    }
  }

  @Test("a client stream adds up, and a bidirectional stream answers each message", .rule("connect.2"), arguments: Dialect.all)
  func bothStreams(dialect: Dialect) async throws {
    let total: any ClientOnlyAsyncStreamInterface<Number, Number> = client(dialect).clientOnlyStream(
      path: "peer.v1.Peer/Total", headers: [:])
    for number in 1...100 { try total.send(Number(Int32(number))) }
    total.closeAndReceive()
    let sum = await read(total.results())
    #expect(sum.messages == [Number(5050)] && sum.codes == [.ok], "\(sum)")
    let double: any BidirectionalAsyncStreamInterface<Number, Number> = client(dialect).bidirectionalStream(
      path: "peer.v1.Peer/Double", headers: [:])
    for number in 1...3 { try double.send(Number(Int32(number))) }
    double.close()
    let doubled = await read(double.results())
    #expect(doubled.messages == [Number(2), Number(4), Number(6)] && doubled.codes == [.ok], "\(doubled)")
  }

  @Test("a gRPC-Web call has its message and trailers in the body", .rule("connect.2"), arguments: Dialect.all.suffix(3))
  func grpcWeb(dialect: Dialect) async throws {
    let response: ResponseMessage<Text> = await client(dialect).unary(
      path: "peer.v1.Peer/Echo", idempotencyLevel: .noSideEffects, request: Self.text, headers: [:])
    #expect(response.message == Self.text && response.code == .ok, "\(response)")
    #expect(response.headers["x-method"] == ["POST"] && response.trailers["x-end"] == ["4"])
  }

  @Test("a method that the server does not have is unimplemented", .rule("connect.4"), arguments: Dialect.all)
  func unknownMethod(dialect: Dialect) async throws {
    let response: ResponseMessage<Text> = await client(dialect).unary(
      path: "peer.v1.Peer/Nothing", idempotencyLevel: .unknown, request: Text("a"), headers: [:])
    #expect(response.code == .unimplemented && response.error?.code == .unimplemented, "\(response)")
    let stream: any ServerOnlyAsyncStreamInterface<Number, Number> = client(dialect).serverOnlyStream(
      path: "peer.v1.Peer/Nothing", headers: [:])
    try stream.send(Number(1))
    #expect(await read(stream.results()).codes == [.unimplemented])
  }

  @Test(
    "an error has code, message, details that unpack, and metadata of both kinds", .rule("connect.44", "connect.56"),
    arguments: Dialect.all)
  func error(dialect: Dialect) async throws {
    let response: ResponseMessage<Text> = await client(dialect).unary(
      path: "peer.v1.Peer/Fail", idempotencyLevel: .noSideEffects, request: Text("not_found"), headers: [:])
    let error = try #require(response.error)
    #expect(error.code == .notFound && error.message == "asked for not_found", "\(error)")
    try expectDetail(error)
    #expect(error.metadata["x-head"] == ["1"] && error.metadata["x-end"] == ["2"], "\(error.metadata)")
    #expect(response.trailers["x-end"] == ["2"])
  }

  @Test(
    "the code of a response is that of its error, for all sixteen codes", .rule("connect.45"), arguments: ["connect", "grpc-web"])
  func codes(network: String) async throws {
    let client = client(network == "connect" ? .connect : .grpcWeb)
    for code in Code.allCases where code != .ok {
      let response: ResponseMessage<Text> = await client.unary(
        path: "peer.v1.Peer/Fail", idempotencyLevel: .unknown, request: Text(code.name), headers: [:])
      #expect(response.code == code && response.error?.code == code, "\(response)")
    }
  }

  @Test("the deadline leaves a server that does not end the call", .rule("connect.24"))
  func deadline() async throws {
    let client = ProtocolClient(config: ProtocolClientConfig(host: server.host, timeout: 0.2))
    let response: ResponseMessage<Number> = await client.unary(
      path: "peer.v1.Peer/Slow", idempotencyLevel: .unknown, request: Number(600_000), headers: [:])
    #expect(response.code == .deadlineExceeded)
  }

  private func expectDetail(_ error: (any Error)?) throws {
    let details: [Text] = try #require(error as? ConnectError).unpackedDetails()
    #expect(details == [Text("a detail")])
  }

  /// The results of a stream.
  private struct Results: Sendable {
    var headers: [Headers] = []
    var messages: [Number] = []
    var codes: [Code] = []
    var error: (any Error)?
    var trailers: Trailers = [:]
  }

  private func read(_ stream: AsyncStream<StreamResult<Number>>) async -> Results {
    var results = Results()
    for await result in stream {
      switch result {
      case .headers(let headers): results.headers.append(headers)
      case .message(let message): results.messages.append(message)
      case .complete(let code, let error, let trailers):
        results.codes.append(code)
        results.error = error
        results.trailers = trailers ?? [:]
      }
    }
    return results
  }
}
