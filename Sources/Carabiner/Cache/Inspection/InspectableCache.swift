/// A cache whose records can be listed and removed by a person.
package protocol InspectableCache: NormalizedCache {
  /// The path of the file or the addresses of the servers, for messages.
  var place: String { get }

  /// Calls a function with a summary of each record, in the order of the keys' bytes.
  ///
  /// - Parameters:
  ///   - pattern: The pattern of keys, in which `*` matches any text; nil for all.
  ///   - type: The type of records; nil for all.
  /// - Throws: ``StoreError``, or the error of the function.
  func forEachRecord(matching pattern: String?, type: String?, _ body: (RecordSummary) throws -> Void) async throws

  /// The statistics of the store.
  ///
  /// - Throws: ``StoreError``.
  func statistics() async throws -> StoreStatistics

  /// Removes the records of some keys. Returns how many existed.
  ///
  /// - Throws: ``StoreError``.
  func removeRecords(forKeys keys: [String]) async throws -> Int

  /// Removes the records whose keys match a pattern. Returns how many there were.
  ///
  /// - Throws: ``StoreError``.
  func removeRecords(matching pattern: String) async throws -> Int
}
