internal import CarabinerFleet
internal import CarabinerManifest
internal import CarabinerRelease
internal import CarabinerWire

/// The state of a fleet for people and for programs.
struct FleetReport {
  private let state: FleetState

  init(_ state: FleetState) { self.state = state }

  // MARK: Text

  var text: String {
    var lines = [row("stable", state.stable.map(manifest) ?? "none; publish one with carabiner fleet push")]
    lines.append(row("candidate", state.candidate.map(manifest) ?? "none"))
    if let candidate = state.candidate {
      let stage = state.stage.map { self.stage($0, of: candidate.id) }
      if let plan { lines.append(row("plan", text(plan))) }
      lines.append(row("stage", stage ?? "none; push the candidate again with --replace"))
    }
    if let halt = state.halt {
      let reason = halt.reason.map { ": \(PrintableText.escaping($0))" } ?? ""
      lines.append(row("halted", "by \(author(halt) ?? "an unknown party")\(reason)"))
      lines += halt.failures.sorted { $0.key < $1.key }.map {
        row("", "\(PrintableText.escaping($0.key)): \(PrintableText.escaping($0.value))")
      }
    }
    lines += failures.map { row("failed", "\($0.name): \(PrintableText.escaping($0.reason))") }
    if let revocations = state.revocations { lines.append(row("revoked", text(revocations))) }
    lines.append(row("revision", "\(state.revision)"))
    lines += state.damaged.sorted { $0.key < $1.key }.map {
      row("damaged", "\(PrintableText.escaping($0.key)): \(PrintableText.escaping($0.value.message))")
    }
    return (lines + table).joined(separator: "\n")
  }

  private func row(_ name: String, _ value: String) -> String {
    name + String(repeating: " ", count: 11 - name.utf8.count) + value
  }

  private func manifest(_ manifest: FleetManifest) -> String {
    "\(manifest.id), \(manifest.bytes.count) bytes, \(manifest.release == nil ? "not signed" : "signed")"
  }

  private func stage(_ stage: RolloutStage, of candidate: CandidateID) -> String {
    let count = state.status(of: candidate).count(in: stage)
    return "\(stage.number), with \(count) of \(state.nodes.count) node\(state.nodes.count == 1 ? "" : "s")"
  }

  /// The list and the statement about it; nil if they do not belong to each other or to this fleet, so that nodes refuse them. The
  /// signature is not verified.
  private func parts(_ published: FleetRevocations) -> (list: RevocationList, statement: ReleaseStatement)? {
    guard let list = try? RevocationList(parsing: published.bytes), let release = published.release,
      let statement = try? ReleaseSidecar(parsing: release).statement, statement.file == FileIdentity(of: published.bytes),
      let subject = try? ReleaseSubject(.revoked, ofFleet: state.keys.prefix), statement.subject == subject
    else { return nil }
    return (list, statement)
  }

  private func isValid(_ statement: ReleaseStatement) -> Bool {
    statement.issued <= .now.adding(seconds: ReleaseVerifier.maximumClockError) && .now < statement.expires
  }

  private func text(_ revocations: FleetRevocations) -> String {
    guard let (list, statement) = parts(revocations) else {
      return "a list that cannot be read, or without a statement for this fleet, so nodes with --trust refuse manifests"
    }
    let reason =
      .now < statement.expires ? "issued at \(statement.issued), in the future" : "expired at \(statement.expires)"
    let validity =
      isValid(statement)
      ? "valid until \(statement.expires)" : "\(reason), so nodes with --trust refuse manifests; sign it again"
    return "\(list.count) entr\(list.count == 1 ? "y" : "ies"), serial \(statement.serial), \(validity)"
  }

  /// The plan of the candidate; nil if its manifest cannot be read, so that each node refuses it.
  private var plan: RolloutPlan? {
    guard let candidate = state.candidate,
      let manifest = try? Manifest(bytes: candidate.bytes, path: state.keys.name(.candidate), directory: nil)
    else { return nil }
    return manifest.fleet ?? .standard
  }

  private func text(_ plan: RolloutPlan) -> String {
    let failures = "\(plan.failuresToHalt) failure\(plan.failuresToHalt == 1 ? "" : "s")"
    return plan.stages.map { "\($0)" }.joined(separator: ", ") + ", each for \(DurationText.print(plan.hold)); a halt after "
      + "\(failures)\(plan.haltEffect == .stay ? ", without a return" : "")"
      + (plan.promoter == .operator ? "; promoted by the operator" : "")
  }

  private func members(of plan: RolloutPlan) -> JSONValue {
    [
      "stages": .array(plan.stages.map { .string("\($0)") }), "hold": .string(DurationText.print(plan.hold)),
      "haltAfter": .number(JSONNumber(plan.failuresToHalt)), "onHalt": .string(plan.haltEffect.rawValue),
      "promote": .string(plan.promoter.rawValue),
    ]
  }

  private func author(_ halt: RolloutHalt) -> String? {
    switch halt.author {
    case .node(let name)?: "node \(name)"
    case .operator?: "the operator"
    case nil: nil
    }
  }

  /// The nodes that failed with the candidate, without those that are listed with the halt.
  private var failures: [(name: NodeName, reason: String)] {
    state.marks.sorted { $0.key < $1.key }.compactMap { name, mark in
      guard case .failed(let reason) = mark, state.halt?.failures["\(name)"] == nil else { return nil }
      return (name, reason)
    }
  }

  private var table: [String] {
    guard !state.nodes.isEmpty else { return ["", "no node reports; start one with carabiner serve -m etcd://…"] }
    let rows = state.nodes.sorted { $0.key < $1.key }.map { name, node in
      [
        "\(name)", node.state.rawValue, node.serving.map { "\($0)" } ?? "-", "\(node.generation)",
        TextColumn.time(Int64(node.since) * 1000), PrintableText.escaping(node.version),
        PrintableText.escaping(node.reason ?? ""),
      ]
    }
    let all = [["node", "state", "serving", "generation", "since", "version", "reason"]] + rows
    let widths = all[0].indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return [""]
      + all.map { row in
        let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        return cells.joined(separator: "  ").trimmingSuffix(" ")
      }
  }

  // MARK: JSON

  var json: JSONValue {
    func json(_ manifest: FleetManifest?) -> JSONValue {
      manifest.map {
        ["id": .string("\($0.id)"), "bytes": .number(JSONNumber($0.bytes.count)), "signed": .bool($0.release != nil)]
      } ?? .null
    }
    func json(_ revocations: FleetRevocations) -> JSONValue {
      guard let (list, statement) = parts(revocations) else { return ["usable": false] }
      return [
        "usable": .bool(isValid(statement)), "entries": .number(JSONNumber(list.count)),
        "serial": .number(JSONNumber(statement.serial)), "expires": .string("\(statement.expires)"),
      ]
    }
    let nodes = state.nodes.sorted { $0.key < $1.key }.map { name, node -> JSONValue in
      var object = node.json.object ?? [:]
      if let candidate = state.candidate {
        object["mark"] = state.marks[name]?.json ?? .null
        if let stage = state.stage { object["inStage"] = .bool(stage.includes(NodeRank("\(name)", for: candidate.id))) }
      }
      return .object(JSONObject([(key: "name", value: JSONValue.string("\(name)"))] + object.members))
    }
    // Nodes that are away have marks too.
    let away = state.marks.filter { state.nodes[$0.key] == nil }.sorted { $0.key < $1.key }
    return [
      "revision": .number(JSONNumber(Int(state.revision))), "stable": json(state.stable), "candidate": json(state.candidate),
      "plan": plan.map(members) ?? .null, "revoked": state.revocations.map { json($0) } ?? .null,
      "stage": state.stage?.json ?? .null, "halt": state.halt?.json ?? .null, "nodes": .array(nodes),
      "away": .array(away.map { ["name": .string("\($0.key)"), "mark": $0.value.json] }),
      "damaged": .array(
        state.damaged.sorted { $0.key < $1.key }.map { ["key": .string($0.key), "message": .string($0.value.message)] }),
    ]
  }
}

extension String {
  /// The text without a character at its end.
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    String(self[..<(lastIndex { $0 != character }.map(index(after:)) ?? startIndex)])
  }
}
