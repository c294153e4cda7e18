internal import ArgumentParser
internal import CarabinerFiles
internal import CarabinerFleet
internal import CarabinerManifest
internal import CarabinerRelease
internal import CarabinerSources
internal import CarabinerWire

/// `carabiner fleet push`
struct FleetPushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Publish a manifest as the candidate, or as the first stable manifest.",
    discussion: """
      The manifest is checked first. FILE.release is published with it if it is there; nodes with --trust need it. If no manifest was
      published yet, this one becomes the stable one at once. If the manifest is the stable one already, only a new FILE.release is
      published.

      carabiner fleet push -m shop.yaml --to etcds://etcd-1:2379,etcd-2:2379/carabiner/shop
      """)

  @Option(name: [.customShort("m"), .customLong("manifest")], help: "The manifest, YAML or JSON.")
  var manifest: String
  @Flag(name: .long, help: "Give up the candidate that is there, and its roll-out.") var replace = false
  @OptionGroup var options: FleetChangeOptions

  func run() async throws {
    try await options.fleet.withFleet { store in
      // A manifest with problems is refused before etcd is asked.
      let (manifest, plan) = try published(for: store.keys)
      let state = try await options.state(of: store)
      let (effect, change) = try state.push(manifest, plan, isReplacing: replace)
      if manifest.release == nil {
        Terminal.complain(
          "warning: \(self.manifest)\(ReleaseSidecar.suffix) does not exist, so the manifest is not signed; nodes with --trust "
            + "refuse it")
      }
      let revision = effect == .nothing ? state.revision : try await store.make(change)
      options.fleet.emit(json(effect, manifest, revision), text(effect, manifest, plan, revision))
    }
  }

  /// Reads the files, and checks them.
  private func published(for keys: FleetKeys) throws -> (FleetManifest, RolloutPlan) {
    let bytes: [UInt8]
    do throws(BoundedFile.Fault) {
      bytes = try BoundedFile.bytes(at: manifest, maximumBytes: FleetManifest.maximumBytes)
    } catch {
      // The reader of manifests has a message for each fault.
      _ = try Manifest.load(path: manifest)
      throw ManifestError(path: manifest, problems: [ManifestProblem(.unreadable, "the manifest cannot be read: \(error)")])
    }
    let plan = try Manifest(bytes: bytes, path: manifest, directory: nil).fleet ?? .standard
    let release = try ReleaseFile.sidecar(at: manifest + ReleaseSidecar.suffix)
    if let release { try check(release, of: bytes, for: keys) }
    return (FleetManifest(bytes, release: release), plan)
  }

  /// Checks the subject of a sidecar, but not its signatures. Only nodes know which keys they trust.
  private func check(_ release: [UInt8], of bytes: [UInt8], for keys: FleetKeys) throws(ReleaseError) {
    let statement = try ReleaseSidecar(parsing: release).statement
    let subject = try ReleaseSubject(.manifest, ofFleet: keys.prefix)
    guard statement.subject == subject else {
      throw ReleaseError(
        .signature,
        "\(manifest)\(ReleaseSidecar.suffix) is for \(statement.subject), and this fleet needs one for \(subject), the last "
          + "part of its prefix; sign the manifest again")
    }
    guard statement.file == FileIdentity(of: bytes) else {
      throw ReleaseError(
        .pinMismatch,
        "\(manifest)\(ReleaseSidecar.suffix) is about another file; sign the manifest again with "
          + "carabiner release statement")
    }
  }

  private func text(_ effect: FleetState.Push, _ manifest: FleetManifest, _ plan: RolloutPlan, _ revision: Int64) -> String {
    let id = manifest.id
    return switch effect {
    case .first: "\(id) is the stable manifest now: no other one was published. Revision \(revision)."
    case .candidate(let stage):
      "\(id) is the candidate now, in stage \(stage.number) of \(plan.stages.count): \(plan.share(ofStage: stage.number)) of "
        + "\(stage.fleet) node\(stage.fleet == 1 ? "" : "s"). Revision \(revision)."
    case .renewal: "\(id) is the stable manifest already. Its new signature is published. Revision \(revision)."
    case .nothing: "\(id) is the stable manifest already. Nothing was changed."
    }
  }

  private func json(_ effect: FleetState.Push, _ manifest: FleetManifest, _ revision: Int64) -> JSONValue {
    var json: JSONObject = [
      "ok": true, "manifest": .string("\(manifest.id)"), "signed": .bool(manifest.release != nil),
      "revision": .number(JSONNumber(Int(revision))),
    ]
    switch effect {
    case .first: json["effect"] = "stable"
    case .candidate(let stage):
      json["effect"] = "candidate"
      json["stage"] = stage.json
    case .renewal: json["effect"] = "signature"
    case .nothing: json["effect"] = "none"
    }
    return .object(json)
  }
}
