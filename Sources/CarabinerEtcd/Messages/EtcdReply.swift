internal import CarabinerWire

/// The common part of all answers of etcd.
enum EtcdReply {
  /// The depth of the deepest answer that etcd gives is 7.
  private static let limits = JSONLimits(maximumDepth: 16)
  /// The maximum number of members and elements in an answer: more than 100,000 keys have.
  static let maximumMembers = 1 << 20
  private static let maximumTextLength = 200

  /// Reads an answer.
  ///
  /// - Throws: ``EtcdError``, also for an answer that reports an error.
  static func read(_ json: [UInt8]) throws(EtcdError) -> JSONValue {
    // Neither base64 nor a number has these bytes, so the count is exact except for texts of errors.
    let members = json.count(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") })
    guard members <= maximumMembers else {
      throw EtcdError(.malformed, "an answer of etcd has more than \(maximumMembers) members; use a prefix with fewer keys")
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: json, limits: limits)
    } catch {
      throw EtcdError(.malformed, "an answer of etcd is not JSON: \(error); check that the address is one of etcd for clients")
    }
    guard value.object != nil else {
      throw EtcdError(.malformed, "an answer of etcd is not an object; check that the address is one of etcd for clients")
    }
    if let error = value["error"] { throw self.error(value, error) }
    return value
  }

  /// A text of the server for messages: without control characters, and not too long.
  static func printable(_ text: some StringProtocol) -> String {
    String(text.unicodeScalars.prefix(maximumTextLength).map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }

  /// The error of an answer. Requests have it as a text beside a code, streams as an object.
  private static func error(_ reply: JSONValue, _ error: JSONValue) -> EtcdError {
    let text = printable(error.string ?? error["message"]?.string ?? "an error without a text")
    // A token of JWT names the revision of users and roles, so any change of them makes it invalid.
    if text.contains("revision of auth store is old") {
      return EtcdError(.unauthenticated, "etcd refuses the token, because users or roles have changed: \(text)")
    }
    switch reply["code"]?.int ?? error["grpc_code"]?.int ?? error["code"]?.int ?? 0 {
    case 16: return EtcdError(.unauthenticated, "etcd refuses the token: \(text); check the user and the password")
    case 7: return EtcdError(.denied, "etcd denies the request: \(text); grant the user's role the keys under the prefix")
    case 11: return EtcdError(.compacted, "etcd has removed the history: \(text); read the keys again")
    case 1, 4, 14: return EtcdError(.unavailable, "etcd cannot answer: \(text); check the health of the cluster")
    case 3 where text.contains("user name is empty"):
      return EtcdError(.unauthenticated, "etcd needs a login: \(text); set the user and the password")
    case 3 where text.contains("authentication failed"):
      return EtcdError(.unauthenticated, "etcd refuses the login: \(text); check the user and the password")
    case 9 where text.contains("authentication is not enabled"):
      return EtcdError(.unauthenticated, "etcd takes no logins: \(text); remove the user, or enable authentication")
    default: return EtcdError(.refused, "etcd refuses the request: \(text); check its version, 3.4 or later, and its log")
    }
  }
}

extension JSONValue {
  /// The bytes of a member in base64; empty if it is missing.
  func bytes(_ name: String) throws(EtcdError) -> [UInt8] {
    guard let member = self[name] else { return [] }
    guard let text = member.string, let bytes = Base64.decoded(text) else {
      throw EtcdError(.malformed, "an answer of etcd has a member \(name) that is not base64")
    }
    return bytes
  }

  /// A 64-bit number, which etcd writes as a string; 0 if it is missing.
  func number(_ name: String) throws(EtcdError) -> Int64 {
    guard let member = self[name] else { return 0 }
    if let number = member.string.flatMap({ Int64($0) }) ?? member.int.map({ Int64($0) }) { return number }
    throw EtcdError(.malformed, "an answer of etcd has a member \(name) that is not a number")
  }

  /// The elements of a list; none if it is missing.
  func list(_ name: String) throws(EtcdError) -> [JSONValue] {
    guard let member = self[name] else { return [] }
    guard let list = member.array else {
      throw EtcdError(.malformed, "an answer of etcd has a member \(name) that is not a list")
    }
    return list
  }

  /// A member that is an object; an empty one if it is missing.
  func object(_ name: String) throws(EtcdError) -> JSONValue {
    guard let member = self[name] else { return [:] }
    guard member.object != nil else {
      throw EtcdError(.malformed, "an answer of etcd has a member \(name) that is not an object")
    }
    return member
  }
}
