import Carabiner
import CarabinerHost
import Foundation

/// Runs a query through the stages of a manifest and two interceptors of this program.
///
/// Usage: NativeInterceptor MANIFEST ENDPOINT
@main
struct NativeInterceptor {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else {
      FileHandle.standardError.write(Data("usage: NativeInterceptor MANIFEST ENDPOINT\n".utf8))
      exit(2)
    }
    var configuration = PluginHost.Configuration()
    configuration.endpoint = CommandLine.arguments[2]
    let host = try await PluginHost(
      manifest: CommandLine.arguments[1], graphQL: [TimingInterceptor()], http: [RequestIDInterceptor()],
      configuration: configuration)
    for try await response in try ApolloClient(networkTransport: host.transport).results(
      of: DynamicOperation(document: "{ __typename }"))
    {
      print(String(decoding: response.body.bytes, as: UTF8.self))
    }
    await host.shutDown()
  }
}
