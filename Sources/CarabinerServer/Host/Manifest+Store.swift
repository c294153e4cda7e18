internal import Carabiner
internal import CarabinerHost
package import CarabinerManifest
internal import CarabinerSQLite
internal import CarabinerWire
internal import FoundationEssentials

extension Manifest {
  /// Opens the store, and creates its file if there is none.
  ///
  /// - Throws: ``StoreError``.
  func openStore() throws -> ApolloStore {
    let cache: any NormalizedCache =
      if let file = store.file {
        try SQLiteNormalizedCache(path: file, maximumFields: settings.storeFields, maximumBytes: settings.storeFileBytes)
      } else {
        InMemoryNormalizedCache(
          maximumRecords: settings.storeRecords, maximumBytes: settings.storeBytes, maximumFields: settings.storeFields)
      }
    return ApolloStore(cache: cache, policy: store.policy)
  }

  /// Whether a store that was opened for another manifest has the settings of this one.
  func canKeepStore(of other: Manifest) -> Bool {
    store == other.store && settings.storeRecords == other.settings.storeRecords
      && settings.storeBytes == other.settings.storeBytes && settings.storeFields == other.settings.storeFields
      && settings.storeFileBytes == other.settings.storeFileBytes
  }

  /// The reasons why the store's file cannot be used. Nothing is created or changed.
  package func storeProblems() -> [ManifestProblem] {
    guard let file = store.file, let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int, size > 0
    else { return [] }
    do {
      _ = try SQLiteNormalizedCache(path: file, isReadOnly: true)
      return []
    } catch {
      let place = JSONPointer(components: ["built-ins", "store", "file"])
      return [ManifestProblem(.unreadable, at: place, (error as? StoreError)?.message ?? "\(error)")]
    }
  }
}
