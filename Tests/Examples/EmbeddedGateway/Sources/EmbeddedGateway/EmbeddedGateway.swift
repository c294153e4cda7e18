import Carabiner
import CarabinerHost
import Foundation

/// Runs one query through the chain of a manifest, and then serves the chain until SIGTERM or Ctrl-C. SIGHUP reloads the manifest.
///
/// Usage: EmbeddedGateway MANIFEST HOST:PORT
@main
struct EmbeddedGateway {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else {
      FileHandle.standardError.write(Data("usage: EmbeddedGateway MANIFEST HOST:PORT\n".utf8))
      exit(2)
    }
    let host = try await PluginHost(manifest: CommandLine.arguments[1])

    let client = ApolloClient(networkTransport: host.transport)
    for try await response in try client.results(of: DynamicOperation(document: "{ __typename }")) {
      show(String(decoding: response.body.bytes, as: UTF8.self))
    }

    let events = host.events
    let log = Task { for await event in events { show("\(event.kind.rawValue): \(event.changes.joined(separator: ", "))") } }
    var configuration = Gateway.Configuration(address: CommandLine.arguments[2])
    configuration.onListening = { addresses in show("listening \(addresses.joined(separator: " "))") }
    try await Gateway(host: host, configuration: configuration).runService()
    await log.value
  }

  /// Writes a line at once. `print` waits for a full buffer if the output is a pipe.
  private static func show(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
