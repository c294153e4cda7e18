import CarabinerHost
import Logging
import ServiceLifecycle

/// Logs what happens to the generations of a host.
struct GenerationLog: Service {
  let host: PluginHost
  let logger: Logger

  func run() async throws {
    for await event in host.events.cancelOnGracefulShutdown() {
      logger.notice(
        "\(event.kind.rawValue)",
        metadata: ["generation": "\(event.generation)", "changes": "\(event.changes)", "problems": "\(event.problems)"])
    }
  }
}
