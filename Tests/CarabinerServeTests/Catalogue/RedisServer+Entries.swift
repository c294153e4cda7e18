import TestTools

extension RedisServer {
  /// The keys of stored responses.
  func entries() throws -> [String] {
    try ask("KEYS", "*:q:*").split(separator: "\n").map(String.init)
  }
}
