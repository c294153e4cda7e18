internal import CarabinerRESP
internal import CarabinerWire

extension Manifest.RedisServers {
  static let fields = Fields(Self()) {
    $0.key(
      "urls", \.urls,
      .list(of: .redisURL, "a list of URLs", 1...maximumURLs) { "there are \($0) URLs; write 1 to \(maximumURLs) of them" },
      "redis://HOST:PORT/DB, or rediss:// with TLS. The first server that can be reached is used. User and password have keys of "
        + "their own.", missing: "the servers are missing; write urls: [\"redis://HOST:PORT\"]", isFirst: false)
    $0.key("user", \.user, .reference, "The user; may contain references. Without it the default user logs in.")
    $0.key("password", \.password, .reference, "The password; may contain references.")
    let advice = "write the path of a file in PEM"
    $0.key(
      "ca-file", \.authorityFile, .file(advice),
      "The certificate authorities of the servers (PEM), relative to the manifest. Without it those of the system.")
    $0.key(
      "certificate", \.certificateFile, .file(advice),
      "The certificate of the host for servers that demand one (PEM), relative to the manifest.")
    $0.key("key", \.keyFile, .file(advice), "The key of the certificate (PEM), relative to the manifest.")
    $0.key(
      "cluster", \.isCluster, .truth,
      "Whether the servers are nodes of a Redis cluster. The other nodes are found by themselves. Without spread, all keys with one "
        + "prefix are on one master. The URLs have no database.")
    // In a cluster, all URLs are with TLS or none, and without a database.
    $0.rule(
      #"""
      "dependentRequired": {"user": ["password"], "certificate": ["key"], "key": ["certificate"]},
      "anyOf": [
        {"properties": {"cluster": {"const": false}}},
        {"properties": {"urls": {"items": {"pattern": "^redis://[^/]+(/0*)?$"}}}},
        {"properties": {"urls": {"items": {"pattern": "^rediss://[^/]+(/0*)?$"}}}}
      ]
      """#
    ) { $0.checkServers($1, $2, $3) }
  }
}

extension Manifest.RedisStore {
  static let fields = Fields(Self()) {
    $0.keys(of: Manifest.RedisServers.fields, \.servers)
    $0.key(
      "spread", \.isSpread, .truth,
      "Whether the records are spread over all masters of a cluster. Transactions of the store fail then.")
    $0.key("connections", \.connections, .count(1...maximumConnections), "The connections for commands.")
    $0.key(
      "prefix", \.prefix, .storePrefix,
      "The name of the store in the servers. Without it the name of the manifest's file without its suffix.")
    $0.key(
      "read-budget", \.readBudget,
      .duration.checked({ $0 <= maximumReadBudget }) { _, _ in
        "an operation waits at most 10s for Redis; write a shorter read-budget, such as 20ms"
      }, "The most time that an operation waits for Redis, at most 10s. Then it goes on as after a miss.")
    $0.key("write-queue", \.writeQueueBytes, .size, "The most bytes of writes that wait for Redis. More are dropped.")
    $0.key("time-to-live", \.timeToLive, .duration, "How long records are kept whose type has no maximum age.")
    $0.group("near", "Records that are also kept in memory. Changes of other hosts remove them.") {
      $0.key("records", \.nearRecords, .count(0...maximumNearRecords), "The most records in memory; 0 for none.")
      $0.key("maximum-age", \.nearMaximumAge, .duration, "How long a record in memory is used, at most time-to-live.")
    }
    $0.rule(#""not": {"required": ["spread"], "properties": {"spread": {"const": true}, "cluster": {"const": false}}}"#) {
      $0.checkRedisStore($1, $2, $3)
    }
  }
}

extension Manifest.Shared {
  static let fields = Fields(Self()) {
    $0.keys(of: Manifest.RedisServers.fields, \.servers)
    $0.key(
      "prefix", \.prefix, .storePrefix,
      "The name of the state in the servers. Without it the name of the manifest's file without its suffix.")
    $0.key(
      "sync", \.sync, .duration(in: syncs, "10ms to 10s"),
      "How often gateways exchange the rates of clients, 10ms to 10s. No request waits for it.")
    $0.key(
      "budget", \.budget, .duration(in: budgets, "1ms to 10s"),
      "The most time that a mutation with an idempotency key waits for the servers, 1ms to 10s.")
  }
}

extension Manifest.Idempotency {
  static let fields = Fields(Self()) {
    $0.key(
      "header", \.header, .headerName(", such as idempotency-key"),
      "The request header with the key: 1 to 255 visible ASCII characters.")
    $0.key(
      "keep", \.keep, .duration(in: minimumKeep...maximumKeep, "5m to 720h"),
      "How long a key and its answer are kept, 5m to 720h.")
    $0.key(
      "body", \.bodyBytes,
      .size.checked({ $0 <= maximumBodyBytes }) { _, _ in
        "answers of up to 16MiB can be kept; write a smaller size, such as 1MiB"
      }, "The largest answer that is kept, at most 16MiB. A larger one is not repeated, and the mutation does not run again.")
    $0.key(
      "on-unavailable", \.unavailable, .word { json, _ in "\(json) is neither refuse nor run; write one of them" },
      "Whether mutations with a key are refused with 503 while the servers are away, or run without protection.")
  }
}

extension ManifestReader {
  fileprivate mutating func checkRedisStore(_ redis: Manifest.RedisStore, _ members: JSONObject, _ pointer: JSONPointer) {
    if redis.isSpread, !redis.servers.isCluster {
      problem(
        .invalidValue, pointer.appending("spread"),
        "only a cluster can spread the store; write cluster: true as well, or remove spread")
    }
    if members["near"]?["maximum-age"] != nil, redis.nearMaximumAge > redis.timeToLive {
      problem(
        .invalidValue, pointer.appending("near").appending("maximum-age"),
        "maximum-age exceeds time-to-live; write a shorter one, such as 5s")
    }
  }

  fileprivate mutating func checkServers(_ servers: Manifest.RedisServers, _ members: JSONObject, _ pointer: JSONPointer) {
    if members["user"] != nil, members["password"] == nil {
      problem(.invalidValue, pointer.appending("user"), "user needs password; add it, or remove user")
    }
    if (members["certificate"] == nil) != (members["key"] == nil) {
      let key = members["certificate"] == nil ? "key" : "certificate"
      problem(.invalidValue, pointer.appending(key), "certificate and key belong together; set both or none")
    }
    if !servers.urls.isEmpty, !servers.urls.contains(where: \.usesTLS) {
      for key in ["ca-file", "certificate", "key"] where members[key] != nil {
        problem(
          .invalidValue, pointer.appending(key),
          "\(key) is for URLs with rediss://, and there is none; change the URL, or remove \(key)")
      }
    }
    if servers.isCluster { checkCluster(members, pointer.appending("urls")) }
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
}

// MARK: Kinds of values

extension ValueKind<RedisURL> {
  fileprivate static var redisURL: Self {
    Self(
      #""type": "string", "pattern": "^rediss?://[^@?#/]+(/[0-9]*)?$""#, json: { .string($0.description) },
      read: { reader, json, place in
        guard let text = reader.text(json, place) else { return nil }
        do throws(RedisError) {
          return try RedisURL(text)
        } catch {
          reader.problem(.invalidValue, place, error.message)
          return nil
        }
      })
  }
}

extension ValueKind<String> {
  fileprivate static var storePrefix: Self {
    text(
      #""type": "string", "pattern": "^[-0-9A-Za-z]{1,64}$""#, { StorePrefix.isValid($0) },
      "is not a prefix; use 1 to \(StorePrefix.maximumBytes) letters, digits and hyphens")
  }
}

extension ValueKind<Duration> {
  fileprivate static func duration(in range: ClosedRange<Duration>, _ text: String) -> Self {
    duration.checked(range.contains) { json, _ in "\(json) is outside of \(text); write a duration between them" }
  }
}
