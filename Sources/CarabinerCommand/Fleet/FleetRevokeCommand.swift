internal import ArgumentParser
internal import CarabinerFleet
internal import CarabinerRelease
internal import CarabinerSources
internal import CarabinerWire

/// `carabiner fleet revoke`
struct FleetRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Publish the list of keys, files and serials that the nodes no longer accept.",
    discussion: """
      The file has the lines of serve --revoked, and replaces the list before. FILE.release is its signed statement, of kind revoked
      and with the last part of the fleet's prefix as its name. Nodes with --trust read the list at once. An empty list revokes nothing.

      carabiner release statement revoked --kind revoked --name shop --serial 1 >s
      ssh-keygen -Y sign -f KEY -n carabiner-release s
      cat s s.sig >revoked.release
      carabiner fleet revoke revoked --to etcds://etcd-1:2379,etcd-2:2379/carabiner/shop
      """)

  @Argument(help: "The list.") var file: String
  @Flag(name: .long, help: "Replace a published list with a higher serial, which may be a forgery.") var replace = false
  @OptionGroup var options: FleetOptions

  func run() async throws {
    try await options.withFleet { store in
      // A list with problems is refused before etcd is asked.
      let (published, list, statement) = try signed(for: store.keys)
      let state = try await store.state()
      try requireNewer(statement, than: state.revocations)
      let change = state.revoked(by: published)
      let revision = if let change { try await store.make(change) } else { state.revision }
      let entries = "\(list.count) entr\(list.count == 1 ? "y" : "ies")"
      let effect = change == nil ? "is published already. Nothing was changed." : "is published. Revision \(revision)."
      options.emit(
        [
          "ok": true, "effect": change == nil ? "none" : "revoked", "serial": .number(JSONNumber(statement.serial)),
          "entries": .number(JSONNumber(list.count)), "expires": .string("\(statement.expires)"),
          "revision": .number(JSONNumber(Int(revision))),
        ],
        "the list of revocations with serial \(statement.serial) and \(entries), valid until \(statement.expires), \(effect)")
    }
  }

  /// Reads the list and its sidecar. Checks the subject of the sidecar, but not its signatures: only nodes know which keys they
  /// trust.
  private func signed(for keys: FleetKeys) throws(ReleaseError) -> (FleetRevocations, RevocationList, ReleaseStatement) {
    let bytes = try ReleaseFile.list(at: file)
    let list = try RevocationList(parsing: bytes, name: file)
    let sidecar = "\(file)\(ReleaseSidecar.suffix)"
    let subject = try ReleaseSubject(.revoked, ofFleet: keys.prefix)
    guard let release = try ReleaseFile.sidecar(at: sidecar) else {
      throw ReleaseError(
        .unsigned,
        "\(sidecar) does not exist, and nodes do not accept a list without signature; sign the list with carabiner release "
          + "statement --kind revoked --name \(subject.name)")
    }
    let statement = try ReleaseSidecar(parsing: release).statement
    guard statement.subject == subject else {
      throw ReleaseError(
        .signature, "\(sidecar) is for \(statement.subject), and this fleet needs one for \(subject); sign the list again")
    }
    guard statement.file == FileIdentity(of: bytes) else {
      throw ReleaseError(.pinMismatch, "\(sidecar) is about other bytes than those of \(file); sign the list again")
    }
    guard statement.issued <= .now.adding(seconds: ReleaseVerifier.maximumClockError) else {
      throw ReleaseError(
        .notYetValid,
        "the statement in \(sidecar) was issued at \(statement.issued), and it is \(ReleaseTime.now); check the clocks")
    }
    guard .now < statement.expires else {
      throw ReleaseError(.expired, "the statement in \(sidecar) expired at \(statement.expires); sign the list again")
    }
    return (FleetRevocations(bytes, release: release), list, statement)
  }

  /// Checks that nodes that have accepted the published list will accept this one.
  ///
  /// - Throws: ``ReleaseError`` with code `downgrade`.
  private func requireNewer(_ statement: ReleaseStatement, than published: FleetRevocations?) throws(ReleaseError) {
    // A published list that cannot be read has no serial to compare with.
    guard let release = published?.release, let current = try? ReleaseSidecar(parsing: release).statement,
      current.subject == statement.subject
    else { return }
    guard !replace else { return }
    let isNewer = statement.serial > current.serial
    guard isNewer || statement.serial == current.serial && statement.file == current.file else {
      throw ReleaseError(
        .downgrade,
        "\(statement.subject) has the serial \(statement.serial), and the published list has \(current.serial); sign the list with "
          + "a higher serial, or if the nodes do not accept the published one, publish this with --replace")
    }
  }
}
