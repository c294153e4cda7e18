internal import CarabinerRESP

/// An error by which a node names another one for the slot of a command: `MOVED SLOT HOST:PORT` or `ASK SLOT HOST:PORT`.
struct Redirect: Sendable, Hashable {
  /// Whether only this command is meant, while the slot is being moved.
  let isOnce: Bool
  let slot: HashSlot
  let node: RedisURL

  /// Reads an error; nil if it is another one, or malformed.
  ///
  /// - Parameter server: The node that answered.
  init?(_ reply: Reply, from server: RedisURL) {
    guard reply.kind == .error, let text = reply.string, text.utf8.count <= Self.maximumBytes else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[0] == "MOVED" || words[0] == "ASK", let slot = Self.number(words[1]).flatMap({ HashSlot($0) }),
      let colon = words[2].lastIndex(of: ":"), let port = Self.number(words[2][words[2].index(after: colon)...]),
      let node = server.node(host: String(words[2][..<colon]), port: port)
    else { return nil }
    (isOnce, self.slot, self.node) = (words[0] == "ASK", slot, node)
  }

  /// The length of the longest host name with the rest of the error.
  private static let maximumBytes = 300

  private static func number(_ text: Substring) -> Int? {
    !text.isEmpty && text.utf8.count <= 5 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}

extension Reply {
  /// The errors of a node that cannot run a command now. Another node could, or the same one later. The command was not run.
  private static let unavailableCodes: Set<String> = [
    "MOVED", "ASK", "CLUSTERDOWN", "TRYAGAIN", "LOADING", "READONLY", "MASTERDOWN",
  ]

  /// The errors of a server that may have been replaced: a primary that was demoted or cut off, or that is loading its data.
  private static let unfitCodes: Set<String> = ["READONLY", "MASTERDOWN", "LOADING", "NOREPLICAS"]

  /// The code of an error that shows that the server may have been replaced; nil for other errors.
  var unfitCode: String? {
    guard kind == .error, let errorCode, Self.unfitCodes.contains(errorCode) else { return nil }
    return errorCode
  }

  /// Whether it is an error by which a cluster refuses a command for now.
  var isUnavailable: Bool { kind == .error && errorCode.map(Self.unavailableCodes.contains) == true }
}
