/// The keys of a fleet at one revision of the store.
///
/// A value that cannot be read never ends a node or a command. It is in ``damaged``, and counts as missing. A halt is the exception: it
/// counts whatever its value is.
package struct FleetState: Sendable {
  /// A key, its value, and the revision of its last change.
  package struct Entry: Sendable, Hashable {
    package let name: String
    package let value: [UInt8]
    package let revision: Int64

    package init(_ name: String, _ value: [UInt8], at revision: Int64) {
      self.name = name
      self.value = value
      self.revision = revision
    }
  }

  package let keys: FleetKeys
  /// The revision of the store.
  package let revision: Int64
  /// The manifest that all nodes serve outside a roll-out; nil if nothing was published.
  package let stable: FleetManifest?
  /// The manifest that is rolled out; nil if there is none.
  package let candidate: FleetManifest?
  /// The list of revocations; nil if nothing was revoked yet.
  package let revocations: FleetRevocations?
  /// The stage of the candidate.
  package private(set) var stage: RolloutStage?
  /// The halt of the candidate.
  package private(set) var halt: RolloutHalt?
  /// The notes of nodes about the candidate.
  package private(set) var marks: [NodeName: TrialMark] = [:]
  /// The reports of all nodes.
  package private(set) var nodes: [NodeName: NodeRecord] = [:]
  /// The reasons for keys with values that cannot be read.
  package private(set) var damaged: [String: FleetError] = [:]
  private let revisions: [String: Int64]

  /// Reads the values. Keys that are none of a fleet are ignored.
  package init(_ keys: FleetKeys, _ entries: some Sequence<Entry>, at revision: Int64) {
    self.keys = keys
    self.revision = revision
    let known = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    func manifest(_ key: FleetKey, _ release: FleetKey) -> FleetManifest? {
      known[keys.name(key)].map { FleetManifest($0.value, release: known[keys.name(release)]?.value) }
    }
    revisions = known.mapValues(\.revision)
    stable = manifest(.stable, .stableRelease)
    candidate = manifest(.candidate, .candidateRelease)
    revocations = known[keys.name(.revoked)].map {
      FleetRevocations($0.value, release: known[keys.name(.revokedRelease)]?.value)
    }
    for entry in known.values {
      do throws(FleetError) {
        try read(entry)
      } catch {
        damaged[entry.name] = error
      }
    }
  }

  private mutating func read(_ entry: Entry) throws(FleetError) {
    switch keys.key(named: entry.name) {
    case .stage(candidate?.id): stage = try RolloutStage(parsing: entry.value)
    case .halt(candidate?.id):
      halt = RolloutHalt(by: nil)
      halt = try RolloutHalt(parsing: entry.value)
    case .taken(candidate?.id, let node)?: marks[node] = try TrialMark(parsing: entry.value)
    case .node(let node)?: nodes[node] = try NodeRecord(parsing: entry.value)
    case .stable, .stableRelease, .candidate, .candidateRelease, .revoked, .revokedRelease, .stage, .halt, .taken, nil: break
    }
  }

  /// The revision of the last change of a key; 0 if it does not exist.
  package func revision(of key: FleetKey) -> Int64 { revisions[keys.name(key)] ?? 0 }

  /// Whether a key exists.
  func exists(_ name: String) -> Bool { revisions[name] != nil }

  /// The reports and notes of all nodes about a candidate. Notes about another one than ``candidate`` are not read.
  package func status(of id: CandidateID) -> RolloutStatus {
    func ranked<Value>(_ values: [NodeName: Value]) -> [NodeRank: Value] {
      Dictionary(uniqueKeysWithValues: values.map { (NodeRank("\($0.key)", for: id), $0.value) })
    }
    return RolloutStatus(id, reports: ranked(nodes.mapValues(\.report)), marks: id == candidate?.id ? ranked(marks) : [:])
  }

  /// The keys that determine which manifest a node serves; nil if there is no stable manifest.
  ///
  /// - Parameter plan: The plan of the candidate.
  package func controlKeys(_ plan: RolloutPlan) -> ControlKeys? {
    stable.map {
      ControlKeys(stable: $0.id, candidate: candidate?.id, plan: plan, stage: stage, isHalted: halt != nil)
    }
  }
}
