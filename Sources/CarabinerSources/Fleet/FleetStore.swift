package import CarabinerEtcd
package import CarabinerFleet

/// The keys of a fleet in etcd.
package struct FleetStore: Sendable {
  package let keys: FleetKeys
  let client: EtcdClient

  /// - Throws: ``SourceError``; ``EtcdError`` if a setting is not valid; or an error of the system if there are no descriptors or threads
  ///   left.
  package init(_ address: EtcdAddress, _ settings: SourceSettings) throws {
    client = try EtcdClient(settings.etcd(address))
    keys = FleetKeys(prefix: address.prefix)
  }

  // MARK: Reads

  /// The keys that determine which manifest a node serves, and the list of revocations: two ranges without `nodes/` and `taken/`, which
  /// change all the time.
  var control: [EtcdKeys] {
    [
      .range(keys.name(.candidate), before: "\(keys.prefix)/halt0"), .range(keys.name(.revoked), before: "\(keys.prefix)/stage0"),
    ]
  }

  /// Reads all keys at one revision.
  package func state() async throws -> FleetState {
    let view = try await client.view(of: control + [.all(prefix: keys.marks), .all(prefix: keys.nodes)])
    return FleetState(keys, view.entries, at: view.revision)
  }

  /// The names of the keys of ``control`` that existed at a revision.
  ///
  /// - Throws: ``FleetError`` with code `conflict` if etcd has removed its history of that time.
  package func names(at revision: Int64) async throws -> Set<String> {
    do {
      let reads = control.map { EtcdRequest.Read($0, isWithoutValues: true, revision: revision) }
      return Set(try await client.ranges(reads).found.map(\.key))
    } catch let error as EtcdError where error.code == .compacted {
      throw FleetError(
        .conflict,
        "nothing was changed: revision \(revision) is so old that etcd does not know its keys any more; look at carabiner fleet "
          + "status, then repeat the command with its revision")
    }
  }

  /// Reads the reports of all nodes, and their notes about a candidate.
  ///
  /// - Parameter last: An earlier view of the same keys; etcd then sends only the values that have changed.
  func reports(about candidate: CandidateID, since last: EtcdView?) async throws -> EtcdView {
    try await client.view(of: [.all(prefix: keys.nodes), .all(prefix: keys.marks(of: candidate))], since: last)
  }

  /// The list of revocations in a view of ``control``.
  func revocations(in view: EtcdView) -> PublishedRevocations {
    guard let list = view[keys.name(.revoked)] else { return .absent }
    return .list(list.value, sidecar: view[keys.name(.revokedRelease)]?.value)
  }

  /// Reads one key; nil if it does not exist.
  func entry(_ key: FleetKey) async throws -> FleetState.Entry? {
    try await client.range(.init(.one(keys.name(key)))).values.first.map(FleetState.Entry.init)
  }

  // MARK: Changes

  /// Makes a change.
  ///
  /// - Returns: The revision of the change.
  /// - Throws: ``FleetError`` with code `conflict` if a key of its conditions has changed.
  @discardableResult
  package func make(_ change: FleetChange) async throws -> Int64 {
    let conditions = change.conditions.sorted { $0.key < $1.key }.map {
      EtcdRequest.Condition.changed($0.key, at: $0.value)
    }
    let steps = change.steps.map { step -> EtcdRequest.Change in
      switch step {
      case .put(let key, let value): .put(key, value)
      case .delete(let key): .delete(.one(key))
      case .deleteAll(let prefix): .delete(.all(prefix: prefix))
      }
    }
    let result = try await client.transaction(if: conditions, then: steps)
    guard result.hasSucceeded else {
      throw change.conflict(Dictionary(result.found.map { ($0.key, $0.changed) }, uniquingKeysWith: { $1 }))
    }
    return result.revision
  }

  /// The result of writing a report.
  enum Reported: Sendable {
    /// It is written, at this revision.
    case written(Int64)
    /// The key has changed, and is this one now; nil if it does not exist.
    case changed(EtcdValue?)
  }

  /// Writes the report of a node, which ends with a lease, if its key was last changed at a revision.
  ///
  /// - Parameter revision: 0 if the key must not exist.
  func report(_ record: NodeRecord, of name: NodeName, under lease: EtcdLease, replacing revision: Int64) async throws -> Reported
  {
    let key = keys.name(.node(name))
    let result = try await client.transaction(
      if: [.changed(key, at: revision)], then: [.put(key, record.bytes, lease: lease.id)])
    return result.hasSucceeded ? .written(result.revision) : .changed(result.found.first { $0.key == key })
  }

  /// The word of an error of etcd for programs; nil for other errors.
  package static func code(of error: any Error) -> String? { (error as? EtcdError)?.code.rawValue }
}

extension EtcdView {
  /// The keys and their values, as a fleet's state takes them.
  var entries: [FleetState.Entry] { values.values.map(FleetState.Entry.init) }
}

extension FleetState.Entry {
  init(_ value: EtcdValue) { self.init(value.key, value.value, at: value.changed) }
}
