internal import CarabinerRESP
internal import CarabinerWire

extension ManifestReader {
  static let redisServerKeys = ["urls", "user", "password", "ca-file", "certificate", "key", "cluster"]
  private static let redisStoreKeys =
    redisServerKeys + ["spread", "connections", "prefix", "read-budget", "write-queue", "time-to-live", "near"]

  mutating func redisStore(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.RedisStore? {
    guard let object = object(json, pointer, knowing: Self.redisStoreKeys) else { return nil }
    var redis = Manifest.RedisStore()
    redis.servers = redisServers(object, pointer)
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "spread": redis.isSpread = truth(value, place) ?? redis.isSpread
      case "connections":
        redis.connections = count(value, place, 1...Manifest.RedisStore.maximumConnections) ?? redis.connections
      case "prefix": redis.prefix = redisPrefix(value, place)
      case "read-budget": redis.readBudget = readBudget(value, place) ?? redis.readBudget
      case "write-queue": redis.writeQueueBytes = bytes(value, place) ?? redis.writeQueueBytes
      case "time-to-live": redis.timeToLive = duration(value, place) ?? redis.timeToLive
      default: break
      }
    }
    if redis.isSpread, !redis.servers.isCluster {
      problem(
        .invalidValue, pointer.appending("spread"),
        "only a cluster can spread the store; write cluster: true as well, or remove spread")
    }
    if let near = object["near"] { readNear(near, pointer.appending("near"), &redis) }
    return redis
  }

  private mutating func readNear(_ json: JSONValue, _ pointer: JSONPointer, _ redis: inout Manifest.RedisStore) {
    guard let object = object(json, pointer, knowing: ["records", "maximum-age"]) else { return }
    if let records = object["records"] {
      let range = 0...Manifest.RedisStore.maximumNearRecords
      redis.nearRecords = count(records, pointer.appending("records"), range) ?? redis.nearRecords
    }
    guard let age = object["maximum-age"] else { return }
    let place = pointer.appending("maximum-age")
    redis.nearMaximumAge = duration(age, place) ?? redis.nearMaximumAge
    if redis.nearMaximumAge > redis.timeToLive {
      problem(.invalidValue, place, "maximum-age exceeds time-to-live; write a shorter one, such as 5s")
    }
  }

  mutating func redisPrefix(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = text(json, pointer) else { return nil }
    guard StorePrefix.isValid(text) else {
      problem(
        .invalidValue, pointer,
        "\(text.debugDescription) is not a prefix; use 1 to \(StorePrefix.maximumBytes) letters, digits and hyphens")
      return nil
    }
    return text
  }

  private mutating func readBudget(_ json: JSONValue, _ pointer: JSONPointer) -> Duration? {
    guard let budget = duration(json, pointer) else { return nil }
    guard budget <= Manifest.RedisStore.maximumReadBudget else {
      problem(.invalidValue, pointer, "an operation waits at most 10s for Redis; write a shorter read-budget, such as 20ms")
      return nil
    }
    return budget
  }

  // MARK: Servers

  /// Reads the keys of servers. The object may have other keys too.
  mutating func redisServers(_ object: JSONObject, _ pointer: JSONPointer) -> Manifest.RedisServers {
    var servers = Manifest.RedisServers()
    if object["urls"] == nil { problem(.missing, pointer, "the servers are missing; write urls: [\"redis://HOST:PORT\"]") }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "urls": servers.urls = redisURLs(value, place)
      case "user": servers.user = reference(value, place)
      case "password": servers.password = reference(value, place)
      case "ca-file": servers.authorityFile = existing(value, place, "write the path of a file in PEM")
      case "certificate": servers.certificateFile = existing(value, place, "write the path of a file in PEM")
      case "key": servers.keyFile = existing(value, place, "write the path of a file in PEM")
      case "cluster": servers.isCluster = truth(value, place) ?? servers.isCluster
      default: break
      }
    }
    if object["user"] != nil, object["password"] == nil {
      problem(.invalidValue, pointer.appending("user"), "user needs password; add it, or remove user")
    }
    if (object["certificate"] == nil) != (object["key"] == nil) {
      let key = object["certificate"] == nil ? "key" : "certificate"
      problem(.invalidValue, pointer.appending(key), "certificate and key belong together; set both or none")
    }
    if !servers.urls.isEmpty, !servers.urls.contains(where: \.usesTLS) {
      for key in ["ca-file", "certificate", "key"] where object[key] != nil {
        problem(
          .invalidValue, pointer.appending(key),
          "\(key) is for URLs with rediss://, and there is none; change the URL, or remove \(key)")
      }
    }
    if servers.isCluster { checkCluster(object, pointer.appending("urls")) }
    return servers
  }

  /// Checks the URLs of a cluster. They may differ only in host and port.
  private mutating func checkCluster(_ object: JSONObject, _ pointer: JSONPointer) {
    guard case .array(let entries)? = object["urls"] else { return }
    var isSecure: Bool?
    for (index, entry) in entries.enumerated() {
      guard let url = entry.string.flatMap({ try? RedisURL($0) }) else { continue }
      let place = pointer.appending(index)
      if url.database != 0 {
        problem(
          .invalidValue, place, "a cluster has database 0 only; remove /\(url.database) from the URL, or remove cluster: true")
      }
      if let isSecure, isSecure != url.usesTLS {
        problem(.invalidValue, place, "some URLs of the cluster have redis:// and some rediss://; write the same one in all")
      }
      isSecure = isSecure ?? url.usesTLS
    }
  }

  private mutating func redisURLs(_ json: JSONValue, _ pointer: JSONPointer) -> [RedisURL] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of URLs")
      return []
    }
    guard (1...Manifest.RedisServers.maximumURLs).contains(entries.count) else {
      problem(
        .invalidValue, pointer, "there are \(entries.count) URLs; write 1 to \(Manifest.RedisServers.maximumURLs) of them")
      return []
    }
    return entries.enumerated().compactMap { index, entry in
      let place = pointer.appending(index)
      guard let text = text(entry, place) else { return nil }
      do throws(RedisError) {
        return try RedisURL(text)
      } catch {
        problem(.invalidValue, place, error.message)
        return nil
      }
    }
  }
}
