internal import ArgumentParser
internal import CarabinerFleet
internal import CarabinerSources

/// `carabiner fleet promote`
struct FleetPromoteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "promote", abstract: "Make the candidate the stable manifest of all nodes, whatever its stage.",
    discussion: """
      carabiner fleet promote --to etcd://127.0.0.1:2379/carabiner/shop
      """)

  @OptionGroup var options: FleetChangeOptions

  func run() async throws {
    try await options.withState { store, state in
      let revision = try await store.make(try state.promoted())
      options.fleet.emit(
        .changed(state, by: "promote", revision), "\(state.label) is the stable manifest now. Revision \(revision).")
    }
  }
}
