package import FoundationEssentials

/// An address of keys: `etcd://HOST:PORT,HOST:PORT/PREFIX`, or `etcds://` for TLS.
package struct EtcdAddress: Sendable, Hashable {
  /// The URLs of the members.
  package let members: [URL]
  /// The text before all keys, without a slash at its end.
  package let prefix: String

  private static let maximumPrefixBytes = 512
  private static let example = "write etcd://HOST:PORT,HOST:PORT/PREFIX, or etcds:// for TLS"

  /// Whether a text is meant as such an address.
  package static func isAddress(_ text: String) -> Bool { text.hasPrefix("etcd://") || text.hasPrefix("etcds://") }

  /// - Throws: ``EtcdError`` with code `invalidSettings`.
  package init(_ text: String) throws(EtcdError) {
    let scheme = text.hasPrefix("etcds://") ? "https" : "http"
    guard Self.isAddress(text), let start = text.firstRange(of: "://")?.upperBound else {
      throw EtcdError(.invalidSettings, "the address of etcd has another scheme; \(Self.example)")
    }
    let rest = text[start...]
    let (hosts, path) = (rest.prefix { $0 != "/" }, rest.drop { $0 != "/" }.dropFirst())
    guard !hosts.contains("@") else {
      throw EtcdError(.invalidSettings, "the address of etcd has a user; use --source-user and --source-password-file")
    }
    var members: [URL] = []
    for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
      guard let url = URL(string: "\(scheme)://\(host)"), let name = url.host(), !name.isEmpty, let port = url.port,
        (1...65535).contains(port), url.query() == nil, url.fragment() == nil
      else {
        throw EtcdError(
          .invalidSettings,
          "the address of etcd has a member that is not HOST:PORT: \(EtcdReply.printable(host)); \(Self.example)")
      }
      members.append(url)
    }
    guard Set(members).count == members.count, members.count <= EtcdSettings.maximumMembers else {
      throw EtcdError(
        .invalidSettings, "the address of etcd names a member twice, or more than \(EtcdSettings.maximumMembers); name each once")
    }
    let prefix = path.hasSuffix("/") ? path.dropLast() : path
    guard !prefix.isEmpty, prefix.utf8.count <= Self.maximumPrefixBytes, prefix.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw EtcdError(
        .invalidSettings,
        "the address of etcd needs a prefix of 1 to \(Self.maximumPrefixBytes) visible ASCII characters; \(Self.example)")
    }
    self.members = members
    self.prefix = String(prefix)
  }
}
