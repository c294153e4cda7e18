import Carabiner
import CarabinerHost
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

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
    let logger = Logger(label: "embedded-gateway")
    let host = try await PluginHost(manifest: CommandLine.arguments[1], configuration: .init(logger: logger))

    let client = ApolloClient(networkTransport: host.transport)
    for try await response in try client.results(of: DynamicOperation(document: "{ __typename }")) {
      show(String(decoding: response.body.bytes, as: UTF8.self))
    }

    var configuration = Gateway.Configuration(address: CommandLine.arguments[2])
    configuration.onListening = { addresses in show("listening \(addresses.joined(separator: " "))") }
    let gateway = Gateway(host: host, configuration: configuration)
    let services = ServiceGroup(
      configuration: .init(
        services: [gateway, GenerationLog(host: host, logger: logger)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
    let reloads = Task {
      for await _ in await UnixSignalsSequence(trapping: .sighup) {
        do {
          show(try await host.reload().changes.joined(separator: "\n"))
        } catch {
          logger.error("\(error)")
        }
      }
    }
    try await services.run()
    reloads.cancel()
    await host.shutDown()
  }

  /// Writes a line at once. `print` waits for a full buffer if the output is a pipe.
  private static func show(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
