internal import Carabiner
internal import CarabinerWire
internal import Glibc

extension ManifestReader {
  private static let settingKeys = [
    "staging", "timeout", "connect-timeout", "connections-per-host", "maximum-head", "maximum-body", "maximum-part",
    "redirect-headers", "idle-timeout", "maximum-attempts", "plugin-retries", "cancel-grace", "kept-memory",
    "breaker-cool-down", "crash-loop", "ca-file", "store-records", "store-bytes", "store-fields", "store-file-bytes",
    "get-for-queries", "subscriptions",
    "client-awareness", "transport", "websocket", "worker-user",
  ]

  mutating func readSettings(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let object = object(json, pointer, knowing: Self.settingKeys) else { return }
    var settings = Manifest.Settings()
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "staging": settings.staging = staging(value, place) ?? settings.staging
      case "timeout": settings.timeout = duration(value, place)
      case "connect-timeout": settings.connectTimeout = duration(value, place) ?? settings.connectTimeout
      case "connections-per-host": settings.connectionsPerHost = count(value, place, 1...100_000)
      case "cancel-grace": settings.cancelGrace = duration(value, place, orZero: true) ?? settings.cancelGrace
      case "breaker-cool-down": settings.breakerCoolDown = duration(value, place) ?? settings.breakerCoolDown
      case "crash-loop": settings.crashLoop = crashLoop(value, place)
      case "kept-memory": settings.keptMemoryBytes = bytes(value, place) ?? settings.keptMemoryBytes
      case "maximum-head": settings.maximumHeadBytes = bytes(value, place) ?? settings.maximumHeadBytes
      case "maximum-body": settings.maximumBodyBytes = bytes(value, place) ?? settings.maximumBodyBytes
      case "maximum-part": settings.maximumPartBytes = bytes(value, place) ?? settings.maximumPartBytes
      case "redirect-headers": settings.redirectHeaders = headerPatterns(value, place)
      case "idle-timeout": settings.idleTimeout = duration(value, place)
      case "maximum-attempts": settings.maximumAttempts = count(value, place, 1...1000) ?? settings.maximumAttempts
      case "plugin-retries": settings.pluginRetries = count(value, place, 0...1000) ?? settings.pluginRetries
      case "store-records": settings.storeRecords = count(value, place, 0...100_000_000) ?? settings.storeRecords
      case "store-bytes": settings.storeBytes = bytes(value, place) ?? settings.storeBytes
      case "store-file-bytes": settings.storeFileBytes = bytes(value, place) ?? settings.storeFileBytes
      case "store-fields": settings.storeFields = count(value, place, 1...1_000_000) ?? settings.storeFields
      case "ca-file": settings.certificateAuthorityFile = existing(value, place, "correct the path, or remove the key")
      case "get-for-queries": settings.usesGETForQueries = truth(value, place) ?? settings.usesGETForQueries
      case "subscriptions": settings.subscriptionFormat = subscriptionFormat(value, place) ?? settings.subscriptionFormat
      case "client-awareness": settings.clientAwareness = clientAwareness(value, place)
      case "transport": settings.engine = engine(value, place) ?? settings.engine
      case "worker-user": settings.workerUser = workerUser(value, place) ?? settings.workerUser
      case "websocket": settings.webSocket = webSocket(value, place)
      default: break
      }
    }
    manifest.settings = settings
  }

  private mutating func crashLoop(_ json: JSONValue, _ pointer: JSONPointer) -> CrashLoopPolicy? {
    guard let object = object(json, pointer, knowing: ["after", "within", "then"]) else { return nil }
    var policy = CrashLoopPolicy()
    if let after = object["after"] { policy.after = count(after, pointer.appending("after"), 1...1000) ?? policy.after }
    if let within = object["within"] { policy.within = duration(within, pointer.appending("within")) ?? policy.within }
    if let then = object["then"] {
      if let remedy = then.string.flatMap(CrashLoopPolicy.Remedy.init(rawValue:)) {
        policy.then = remedy
      } else {
        problem(.invalidValue, pointer.appending("then"), "\(then) is not a known reaction; use skip or refuse")
      }
    }
    return policy
  }

  private mutating func workerUser(_ json: JSONValue, _ pointer: JSONPointer) -> WorkerUser? {
    guard let text = text(json, pointer) else { return nil }
    guard let user = WorkerUser(text) else {
      problem(
        .invalidValue, pointer,
        "\(json) is not a user for workers; write the name of a user other than root, or the numbers of user and group, as in "
          + "65534:65534")
      return nil
    }
    return user
  }

  private mutating func engine(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Settings.Engine? {
    guard let engine = object(json, pointer, knowing: ["engine"])?["engine"] else { return nil }
    guard let known = engine.string.flatMap(Manifest.Settings.Engine.init(rawValue:)) else {
      problem(.invalidValue, pointer.appending("engine"), "\(engine) is not a known engine; use auto or libcurl")
      return nil
    }
    return known
  }

  private mutating func subscriptionFormat(
    _ json: JSONValue, _ pointer: JSONPointer
  ) -> WireOptions.SubscriptionFormat? {
    guard let format = json.string.flatMap(WireOptions.SubscriptionFormat.init(rawValue:)) else {
      problem(.invalidValue, pointer, "\(json) is not a known format of subscriptions; use multipart or events")
      return nil
    }
    return format
  }

  private mutating func clientAwareness(_ json: JSONValue, _ pointer: JSONPointer) -> ClientAwareness? {
    guard let object = object(json, pointer, knowing: ["name", "version", "library"]) else { return nil }
    var client = ClientAwareness(applicationName: nil, applicationVersion: nil)
    if let name = object["name"] { client.applicationName = headerText(name, pointer.appending("name")) }
    if let version = object["version"] { client.applicationVersion = headerText(version, pointer.appending("version")) }
    if let library = object["library"] { client.includesLibrary = truth(library, pointer.appending("library")) ?? true }
    return client
  }

  /// A text that is sent as a header value unchanged.
  private mutating func headerText(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = text(json, pointer) else { return nil }
    guard HeaderText.isValue(text) else {
      problem(.invalidValue, pointer, "a header value cannot hold a line end or NUL; remove it")
      return nil
    }
    return text
  }

  private mutating func staging(_ json: JSONValue, _ pointer: JSONPointer) -> StagingMode? {
    guard let mode = json.string.flatMap(StagingMode.init(rawValue:)) else {
      problem(.invalidValue, pointer, "\(json) is not a kind of staging; use directory or memfd")
      return nil
    }
    return mode
  }

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
    if let retry = object["max-retry"] { readMaxRetry(retry, pointer.appending("max-retry")) }
    if let store = object["store"] { readStore(store, pointer.appending("store")) }
    if let persisted = object["persisted-queries"] {
      let place = pointer.appending("persisted-queries")
      guard let object = self.object(persisted, place, knowing: ["enabled", "get-for-hashes"]) else { return }
      var configuration = AutomaticPersistedQueryInterceptor.Configuration()
      if let enabled = object["enabled"] { configuration.isEnabled = truth(enabled, place.appending("enabled")) ?? false }
      if let get = object["get-for-hashes"] {
        configuration.usesGETForHashes = truth(get, place.appending("get-for-hashes")) ?? false
      }
      manifest.persistedQueries = configuration
    }
  }

  private mutating func readMaxRetry(_ json: JSONValue, _ pointer: JSONPointer) {
    let keys = ["maximum-retries", "base-delay", "multiplier", "maximum-delay", "exponential-backoff", "jitter"]
    guard let object = object(json, pointer, knowing: keys) else { return }
    var retry = MaxRetryInterceptor.Configuration()
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "maximum-retries": retry.maxRetries = count(value, place, 0...1000) ?? retry.maxRetries
      case "base-delay": retry.baseDelay = duration(value, place, orZero: true)?.seconds ?? retry.baseDelay
      case "maximum-delay": retry.maxDelay = duration(value, place, orZero: true)?.seconds ?? retry.maxDelay
      case "multiplier":
        guard let number = value.double, number >= 1, number <= 100 else {
          problem(.invalidValue, place, "\(value) is not a number from 1 to 100; write one")
          continue
        }
        retry.multiplier = number
      case "exponential-backoff":
        retry.enableExponentialBackoff = truth(value, place) ?? retry.enableExponentialBackoff
      case "jitter": retry.enableJitter = truth(value, place) ?? retry.enableJitter
      default: break
      }
    }
    manifest.maxRetry = retry
  }
}
