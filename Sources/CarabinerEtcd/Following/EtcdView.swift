/// Keys and their values at one revision.
package struct EtcdView: Sendable, Hashable {
  /// The revision of the store.
  package let revision: Int64
  /// The values by key.
  package let values: [String: EtcdValue]

  package init(revision: Int64, values: [String: EtcdValue] = [:]) {
    self.revision = revision
    self.values = values
  }

  /// The value of a key; nil if the key does not exist.
  package subscript(key: String) -> EtcdValue? { values[key] }

  /// Whether this view lacks a change that a later read has found.
  ///
  /// - Parameter found: The keys without values.
  func lacksChanges(of found: EtcdTransaction) -> Bool {
    // A member that is itself behind may have answered.
    guard found.revision > revision else { return false }
    let keys = found.found
    if keys.contains(where: { $0.changed > revision }) { return true }
    let present = Set(keys.map(\.key))
    return values.keys.contains { !present.contains($0) }
  }
}

extension EtcdView {
  init(_ result: EtcdTransaction) {
    self.init(
      revision: result.revision, values: Dictionary(result.found.map { ($0.key, $0) }, uniquingKeysWith: { $1 }))
  }

  /// This view with the changes since; nil if they do not fit, because etcd was restored from a copy.
  ///
  /// - Parameters:
  ///   - names: The keys that exist, without values.
  ///   - changes: The keys that have changed since.
  fileprivate func updated(_ names: some Sequence<EtcdRange>, _ changes: some Sequence<EtcdRange>, at revision: Int64)
    -> EtcdView?
  {
    guard revision >= self.revision else { return nil }
    var known = values
    for value in changes.flatMap(\.values) { known[value.key] = value }
    var values: [String: EtcdValue] = [:]
    for name in names.flatMap(\.values) {
      guard let value = known[name.key], value.changed == name.changed else { return nil }
      values[name.key] = value
    }
    return EtcdView(revision: revision, values: values)
  }
}

extension EtcdClient {
  /// Reads keys at one revision.
  ///
  /// - Parameter last: An earlier view of the same keys; etcd then sends only the values that have changed.
  /// - Throws: ``EtcdError``, or `CancellationError`.
  package func view(of keys: [EtcdKeys], since last: EtcdView? = nil) async throws -> EtcdView {
    if let last {
      let names = keys.map { EtcdRequest.Read($0, isWithoutValues: true) }
      let changes = keys.map { EtcdRequest.Read($0, oldestChange: last.revision + 1) }
      let result = try await ranges(names + changes)
      let (found, changed) = (result.ranges.prefix(keys.count), result.ranges.dropFirst(keys.count))
      if let view = last.updated(found, changed, at: result.revision) { return view }
    }
    return EtcdView(try await ranges(keys.map { .init($0) }))
  }
}
