internal import Carabiner
internal import CarabinerWire
internal import Glibc

extension ManifestReader {
  /// The path of an existing file.
  mutating func existing(_ json: JSONValue, _ pointer: JSONPointer, _ advice: String) -> String? {
    guard let path = path(json, pointer) else { return nil }
    guard unsafe access(path, F_OK) == 0 else {
      problem(.missing, pointer, "there is no file \(path); \(advice)")
      return nil
    }
    return path
  }

  mutating func readBuiltIns(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let object = object(json, pointer, knowing: ["max-retry", "persisted-queries", "store"]) else { return }
    if let retry = object["max-retry"] {
      manifest.maxRetry =
        MaxRetryInterceptor.Configuration.fields.read(retry, pointer.appending("max-retry"), &self) ?? manifest.maxRetry
    }
    if let store = object["store"] { readStore(store, pointer.appending("store")) }
    if let persisted = object["persisted-queries"] {
      let place = pointer.appending("persisted-queries")
      manifest.persistedQueries =
        AutomaticPersistedQueryInterceptor.Configuration.fields.read(persisted, place, &self) ?? manifest.persistedQueries
    }
  }
}
