/// The address of a server: `redis://HOST[:PORT][/DB]`, or `rediss://` for TLS.
package struct RedisURL: Sendable, Hashable, CustomStringConvertible {
  /// A host name or an IP address. An IPv6 address is without brackets.
  package let host: String
  /// The port, from 1 to 65,535; 6379 if the URL has none.
  package let port: Int
  package let usesTLS: Bool
  /// The number of the database; 0 if the URL has none.
  package let database: Int

  private static let defaultPort = 6379
  /// The most databases that a server can be set to have.
  private static let maximumDatabase = Int(Int32.max) - 1
  /// The length of the longest host name.
  private static let maximumHostBytes = 255

  /// Reads a URL.
  ///
  /// - Throws: ``RedisError`` with code `invalidSettings`. A password in the URL is not repeated.
  package init(_ text: String) throws(RedisError) {
    guard let (scheme, rest) = Self.split(text, at: "://"), ["redis", "rediss"].contains(scheme.lowercased()) else {
      throw Self.fault("the URL does not begin with redis:// or rediss://")
    }
    guard !rest.contains("@") else {
      throw Self.fault("the URL contains a user or a password, which logs would show; use the keys user and password")
    }
    guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains(where: { "?#\\".contains($0) }) else {
      throw Self.fault("the URL has more than host, port and database; use \(scheme)://HOST:PORT/DB")
    }
    let (authority, path) = Self.split(rest, at: "/").map { ($0, Optional($1)) } ?? (rest, nil)
    let (host, port) = try Self.hostAndPort(authority)
    (self.host, self.port) = (host, port)
    usesTLS = scheme.lowercased() == "rediss"
    database = try path.map { path throws(RedisError) in try Self.database(path) } ?? 0
  }

  /// The address of a node, as another node of its cluster names it; nil if it is malformed.
  package init?(host: String, port: Int, usesTLS: Bool) {
    guard (1...Self.maximumHostBytes).contains(host.utf8.count), host.utf8.allSatisfy(Self.isOfNode), (1...65535).contains(port)
    else { return nil }
    (self.host, self.port, self.usesTLS, database) = (host, port, usesTLS, 0)
  }

  /// Whether a byte may be in the host name or IP address of a node.
  private static func isOfNode(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || [0x2D, 0x2E, 0x3A, 0x5F].contains(byte)
  }

  private static func split(_ text: Substring, at separator: String) -> (Substring, Substring)? {
    var index = text.startIndex
    while index < text.endIndex {
      if text[index...].hasPrefix(separator) {
        return (text[..<index], text[text.index(index, offsetBy: separator.count)...])
      }
      index = text.index(after: index)
    }
    return nil
  }

  private static func split(_ text: String, at separator: String) -> (Substring, Substring)? { split(text[...], at: separator) }

  private static func hostAndPort(_ authority: Substring) throws(RedisError) -> (String, Int) {
    var (host, port) = (authority, Substring?.none)
    if authority.hasPrefix("[") {
      guard let (address, rest) = split(authority.dropFirst(), at: "]"), address.contains(":"),
        rest.isEmpty || rest.hasPrefix(":")
      else { throw fault("the IPv6 address in the URL is malformed; write [ADDRESS]:PORT") }
      (host, port) = (address, rest.isEmpty ? nil : rest.dropFirst())
    } else if let (name, number) = split(authority, at: ":") {
      (host, port) = (name, number)
    }
    guard !host.isEmpty, authority.hasPrefix("[") || !host.contains(where: { "[]:".contains($0) }) else {
      throw fault("the URL has no valid host; write redis://HOST:PORT, with brackets around an IPv6 address")
    }
    guard let port else { return (String(host), defaultPort) }
    guard let number = number(port), (1...65535).contains(number) else {
      throw fault("the port in the URL is not a number from 1 to 65535")
    }
    return (String(host), number)
  }

  private static func database(_ path: Substring) throws(RedisError) -> Int {
    guard !path.isEmpty else { return 0 }
    guard let number = number(path), number <= maximumDatabase else {
      throw fault("the database in the URL is not a number; write redis://HOST:PORT/0")
    }
    return number
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  private static func fault(_ message: String) -> RedisError { RedisError(.invalidSettings, message) }

  /// Whether the host is an IP address, which TLS does not allow as a server name.
  package var isAddress: Bool {
    host.contains(":") || host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { UInt8($0) != nil }
  }

  /// The URL, with the port and without database 0.
  package var description: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(usesTLS ? "rediss" : "redis")://\(name):\(port)\(database == 0 ? "" : "/\(database)")"
  }
}
