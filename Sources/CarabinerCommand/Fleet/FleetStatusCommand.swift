internal import ArgumentParser
internal import CarabinerSources

/// `carabiner fleet status`
struct FleetStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Print the manifests, the stage and the halt of a fleet, and the state of each node.",
    discussion: """
      carabiner fleet status --to etcd://127.0.0.1:2379/carabiner/shop --format json
      """)

  @OptionGroup var options: FleetOptions

  func run() async throws {
    try await options.withFleet { store in
      let report = FleetReport(try await store.state())
      options.emit(report.json, report.text)
    }
  }
}
