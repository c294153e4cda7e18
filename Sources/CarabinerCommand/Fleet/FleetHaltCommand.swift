internal import ArgumentParser
internal import CarabinerFleet
internal import CarabinerSources

/// `carabiner fleet halt`
struct FleetHaltCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "halt", abstract: "Halt the roll-out of the candidate.",
    discussion: """
      No more nodes take the candidate. Those that serve it return to the stable manifest, unless its fleet.on-halt is stay.

      carabiner fleet halt --to etcd://127.0.0.1:2379/carabiner/shop --reason "errors at checkout"
      """)

  private static let maximumReason = 500

  @Option(name: .long, help: "Why it is halted. Nodes and status show it.") var reason: String?
  @OptionGroup var options: FleetChangeOptions

  func validate() throws {
    guard reason.map({ !$0.isEmpty && $0.unicodeScalars.count <= Self.maximumReason }) != false else {
      throw ValidationError("--reason takes a text of 1 to \(Self.maximumReason) characters")
    }
  }

  func run() async throws {
    try await options.withState { store, state in
      let change = try state.halted(RolloutHalt(by: .operator, reason: reason))
      let revision = if let change { try await store.make(change) } else { state.revision }
      let words = change == nil ? "is halted already. Nothing was changed." : "is halted. Revision \(revision)."
      options.fleet.emit(.changed(state, by: "halt", revision), "\(state.label) \(words)")
    }
  }
}
