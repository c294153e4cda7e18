internal import ArgumentParser
internal import CarabinerFleet
internal import CarabinerSources

/// `carabiner fleet abort`
struct FleetAbortCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "abort", abstract: "Give up the candidate. Nodes that serve it return to the stable manifest.",
    discussion: """
      carabiner fleet abort --to etcd://127.0.0.1:2379/carabiner/shop
      """)

  @OptionGroup var options: FleetChangeOptions

  func run() async throws {
    try await options.withState { store, state in
      let revision = try await store.make(try state.aborted())
      options.fleet.emit(.changed(state, by: "abort", revision), "\(state.label) is given up. Revision \(revision).")
    }
  }
}
