internal import CarabinerEtcd
internal import CarabinerFleet
internal import CarabinerSources

/// The keys of a fleet in etcd.
struct FleetStore {
  private let client: EtcdClient
  private let keys: FleetKeys

  init(_ address: EtcdAddress, _ settings: SourceSettings) throws {
    client = try EtcdClient(settings.etcd(address))
    keys = FleetKeys(prefix: address.prefix)
  }

  /// Reads all keys at one revision.
  func state() async throws -> FleetState {
    let collections = [keys.stages, keys.halts, keys.marks, keys.nodes]
    let view = try await client.view(of: keys.manifests.map { .one($0) } + collections.map { .all(prefix: $0) })
    return FleetState(
      keys, view.values.values.map { FleetState.Entry($0.key, $0.value, at: $0.changed) }, at: view.revision)
  }

  /// Makes a change.
  ///
  /// - Returns: The revision of the change.
  /// - Throws: ``FleetError`` with code `conflict` if a key of its conditions has changed.
  @discardableResult
  func make(_ change: FleetChange) async throws -> Int64 {
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

  /// The word of an error of etcd for programs; nil for other errors.
  static func code(of error: any Error) -> String? { (error as? EtcdError)?.code.rawValue }
}
