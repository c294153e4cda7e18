internal import Carabiner
internal import CarabinerWire

extension ManifestReader {
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

extension MaxRetryInterceptor.Configuration {
  static let fields = Fields(Self()) {
    $0.key("maximum-retries", \.maxRetries, .count(0...1000))
    $0.key("base-delay", \.baseDelay, .delay)
    $0.key("multiplier", \.multiplier, .number(1...100))
    $0.key("maximum-delay", \.maxDelay, .delay)
    $0.key("exponential-backoff", \.enableExponentialBackoff, .truth)
    $0.key("jitter", \.enableJitter, .truth)
  }
}

extension AutomaticPersistedQueryInterceptor.Configuration {
  static let fields = Fields(Self()) {
    $0.key("enabled", \.isEnabled, .truth)
    $0.key("get-for-hashes", \.usesGETForHashes, .truth, "Whether hashes are sent by GET and documents by POST.")
  }
}
