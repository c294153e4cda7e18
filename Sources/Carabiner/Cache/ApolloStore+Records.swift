extension ApolloStore {
  /// The current records of some keys, without the fields that are too old. Keys without a record are left out.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `reentrantTransaction`.
  package func currentRecords(forKeys keys: [String]) async throws -> [Record] {
    try TransactionScope.checkOutside(self)
    let found = try await locked(.read) { try await self.cache.records(forKeys: keys) }
    return withoutOldFields(found).compactMap { $0?.table.count == 0 && !policy.isAgeless ? nil : $0 }
  }

  /// The records without the fields that are too old.
  func withoutOldFields(_ records: [Record?]) -> [Record?] {
    guard !policy.isAgeless else { return records }
    let now = StoreClock.now
    return records.map { record in record.map { withoutOldFields($0, now: now) } }
  }

  private func withoutOldFields(_ record: Record, now: Int64) -> Record {
    let type = record["__typename"].map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) }
    let name = type ?? RootRecord(rawValue: record.key)?.typeName ?? ""
    return record.names.reduce(into: record) { current, field in
      // Facts about type conditions do not expire.
      guard !field.hasPrefix("..."), let received = record.received(field),
        let age = policy.maximumAge(of: field.prefix { $0 != "(" }, type: name)
      else { return }
      if received + age <= now { current.remove(field) }
    }
  }

  /// Removes the records of some keys in one transaction. Returns how many existed.
  package func removeObjects(for keys: [String]) async throws -> Int {
    if isShared {
      // Read before the transaction: it must not fail because another process renewed a record that is removed anyway.
      let list = Array(Set(keys))
      let existing = zip(list, try await cache.records(forKeys: list)).compactMap { $0.1 == nil ? nil : $0.0 }
      if let count = try await removingOutside({ _ in existing }) { return count }
      try await withinReadWriteTransaction { transaction in
        for key in existing { try await transaction.removeObject(for: key) }
      }
      return existing.count
    }
    return try await withinReadWriteTransaction { transaction in
      var count = 0
      for key in Set(keys) where try await transaction.record(for: key) != nil {
        try await transaction.removeObject(for: key)
        count += 1
      }
      return count
    }
  }
}
