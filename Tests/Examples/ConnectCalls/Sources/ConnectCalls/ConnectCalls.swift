import CarabinerConnect
import CarabinerCurl
import CarabinerHost
import Foundation
import SwiftProtobuf

/// Calls a unary method and a server stream through an interceptor for Connect-Swift and the HTTP plugins of a manifest.
///
/// Usage: ConnectCalls MANIFEST ENDPOINT
///
/// The server has `peer.v1.Peer/Echo`, which answers with the text that it gets, and `peer.v1.Peer/Count`, a stream of numbers.
@main
struct ConnectCalls {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else {
      FileHandle.standardError.write(Data("usage: ConnectCalls MANIFEST ENDPOINT\n".utf8))
      exit(2)
    }
    var configuration = PluginHost.Configuration()
    configuration.endpoint = CommandLine.arguments[2]
    let host = try await PluginHost(manifest: CommandLine.arguments[1], configuration: configuration)
    let client = ProtocolClient(
      httpClient: CurlHTTPClient(transport: try CurlTransport(), stages: ManifestProvider(host)),
      config: ProtocolClientConfig(
        host: CommandLine.arguments[2], codec: ProtoCodec(), timeout: 60,
        interceptors: [InterceptorFactory { ClientNameInterceptor(config: $0) }]))

    let echo: ResponseMessage<Google_Protobuf_StringValue> = await client.unary(
      path: "peer.v1.Peer/Echo", idempotencyLevel: .noSideEffects, request: Google_Protobuf_StringValue("hello"), headers: [:])
    print("echo: \(try echo.result.get().value)")

    let stream: any ServerOnlyAsyncStreamInterface<Google_Protobuf_Int32Value, Google_Protobuf_Int32Value> =
      client.serverOnlyStream(path: "peer.v1.Peer/Count", headers: [:])
    try stream.send(Google_Protobuf_Int32Value(3))
    for await result in stream.results() {
      switch result {
      case .headers: print("count begins")
      case .message(let number): print("count: \(number.value)")
      case .complete(let code, _, _): print("count ends with \(code)")
      }
    }
    await host.shutDown()
  }
}
