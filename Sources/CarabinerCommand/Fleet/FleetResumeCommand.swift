internal import ArgumentParser
internal import CarabinerFleet
internal import CarabinerSources

/// `carabiner fleet resume`
struct FleetResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Remove the halt of the candidate. Nodes that failed may try it again.",
    discussion: """
      carabiner fleet resume --to etcd://127.0.0.1:2379/carabiner/shop
      """)

  @OptionGroup var options: FleetChangeOptions

  func run() async throws {
    try await options.withState { store, state in
      var revision = state.revision
      for change in try state.resumed() { revision = try await store.make(change) }
      options.fleet.emit(.changed(state, by: "resume", revision), "\(state.label) is resumed. Revision \(revision).")
    }
  }
}
