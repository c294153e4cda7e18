internal import CarabinerWire

/// A request to the JSON gateway of etcd: a path, and a body.
package struct EtcdRequest: Sendable, Hashable {
  /// A condition of a transaction.
  package enum Condition: Sendable, Hashable {
    /// The key was last changed at this revision; 0 if it must not exist.
    case changed(String, at: Int64)
    /// The key was written so many times since it was made; 0 if it must not exist.
    case version(String, equals: Int64)
    case value(String, equals: [UInt8])
  }

  /// A change of a transaction.
  package enum Change: Sendable, Hashable {
    /// Sets a key. With a lease other than 0, the key ends with it.
    case put(String, [UInt8], lease: Int64 = 0)
    case delete(EtcdKeys)
  }

  /// A read.
  package struct Read: Sendable, Hashable {
    package var keys: EtcdKeys
    /// Whether the values are left out.
    package var isWithoutValues = false
    /// Whether the member answers by itself, also if it is cut off from the others. The answer may be old.
    package var isLocal = false
    /// Keys with an older change are left out; 0 for none.
    package var oldestChange: Int64 = 0
    /// The keys are read as they were at this revision; 0 for now.
    package var revision: Int64 = 0

    package init(
      _ keys: EtcdKeys, isWithoutValues: Bool = false, isLocal: Bool = false, oldestChange: Int64 = 0, revision: Int64 = 0
    ) {
      self.keys = keys
      self.isWithoutValues = isWithoutValues
      self.isLocal = isLocal
      self.oldestChange = oldestChange
      self.revision = revision
    }
  }

  package let path: String
  let body: JSONValue
  /// Whether a request that may have reached etcd can be sent again.
  let isRepeatable: Bool
  /// Whether the cluster needs a leader for it. A member without one then refuses it at once.
  let needsLeader: Bool

  private init(_ path: String, _ body: JSONValue, isRepeatable: Bool = true, needsLeader: Bool = true) {
    self.path = path
    self.body = body
    self.isRepeatable = isRepeatable
    self.needsLeader = needsLeader
  }

  /// The bytes of the body.
  package var bytes: [UInt8] { body.serialized() }

  /// Reads keys.
  ///
  /// - Parameter limit: The most keys of the answer; 0 for all.
  package static func range(_ read: Read, limit: Int = 0) -> EtcdRequest {
    EtcdRequest("/v3/kv/range", read.json(limit), needsLeader: !read.isLocal)
  }

  /// Reads all these keys at one revision.
  package static func ranges(_ reads: [Read], limit: Int = 0) -> EtcdRequest {
    EtcdRequest(
      "/v3/kv/txn", ["success": .array(reads.map { ["request_range": $0.json(limit)] })],
      needsLeader: !reads.allSatisfy(\.isLocal))
  }

  /// Makes changes if all conditions hold; otherwise reads the keys of the conditions.
  package static func transaction(if conditions: [Condition], then changes: [Change]) -> EtcdRequest {
    let reads = conditions.map { JSONValue.object(["request_range": ["key": .base64($0.key.utf8)]]) }
    return EtcdRequest(
      "/v3/kv/txn",
      ["compare": .array(conditions.map(\.json)), "success": .array(changes.map(\.json)), "failure": .array(reads)],
      isRepeatable: false)
  }

  /// Asks for a lease of so many seconds.
  package static func lease(seconds: Int) -> EtcdRequest { EtcdRequest("/v3/lease/grant", ["TTL": .string("\(seconds)")]) }

  /// Renews a lease.
  package static func keepAlive(_ lease: Int64) -> EtcdRequest {
    EtcdRequest("/v3/lease/keepalive", ["ID": .string("\(lease)")])
  }

  /// Asks for a token.
  package static func login(user: String, password: String) -> EtcdRequest {
    EtcdRequest("/v3/auth/authenticate", ["name": .string(user), "password": .string(password)])
  }

  /// The body that watches keys from a revision on.
  ///
  /// One body has one request: with several, the server of etcd may discard those that it has not read when it answers to the first.
  package static func watch(_ keys: EtcdKeys, from revision: Int64) -> [UInt8] {
    var request = keys.json
    request["start_revision"] = .string("\(revision)")
    return JSONValue.object(["create_request": .object(request)]).serialized()
  }

  /// The path for ``watch(_:from:)``.
  package static let watchPath = "/v3/watch"
}

extension JSONValue {
  fileprivate static func base64(_ bytes: some Collection<UInt8>) -> JSONValue { .string(Base64.encoded(bytes)) }
}

extension EtcdKeys {
  fileprivate var json: JSONObject {
    var json: JSONObject = ["key": .base64(start)]
    if let end { json["range_end"] = .base64(end) }
    return json
  }
}

extension EtcdRequest.Read {
  fileprivate func json(_ limit: Int) -> JSONValue {
    var json = keys.json
    if isWithoutValues { json["keys_only"] = true }
    if isLocal { json["serializable"] = true }
    if revision > 0 { json["revision"] = .string("\(revision)") }
    if oldestChange > 0 { json["min_mod_revision"] = .string("\(oldestChange)") }
    if limit > 0 { json["limit"] = .string("\(limit)") }
    return .object(json)
  }
}

extension EtcdRequest.Condition {
  fileprivate var key: String {
    switch self {
    case .changed(let key, _), .version(let key, _), .value(let key, _): key
    }
  }

  fileprivate var json: JSONValue {
    var json: JSONObject = ["key": .base64(key.utf8), "result": "EQUAL"]
    switch self {
    case .changed(_, let revision):
      json["target"] = "MOD"
      json["mod_revision"] = .string("\(revision)")
    case .version(_, let version):
      json["target"] = "VERSION"
      json["version"] = .string("\(version)")
    case .value(_, let value):
      json["target"] = "VALUE"
      json["value"] = .base64(value)
    }
    return .object(json)
  }
}

extension EtcdRequest.Change {
  fileprivate var json: JSONValue {
    switch self {
    case .put(let key, let value, let lease):
      var put: JSONObject = ["key": .base64(key.utf8), "value": .base64(value)]
      if lease != 0 { put["lease"] = .string("\(lease)") }
      return ["request_put": .object(put)]
    case .delete(let keys): return ["request_delete_range": .object(keys.json)]
    }
  }
}
