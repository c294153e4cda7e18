internal import Carabiner
internal import CarabinerManifest
package import FoundationEssentials

/// The URL of a manifest on a web server.
package struct WebAddress: Sendable, Hashable {
  /// The URL of the manifest.
  package let url: URL
  /// The URL of its sidecar: the suffix follows the path.
  package let sidecar: URL
  /// The URL without its query, for messages.
  package let label: String

  private static let maximumBytes = 2048
  private static let example = "write https://HOST/chain.yaml"

  /// Whether a text is meant as such a URL.
  package static func isAddress(_ text: String) -> Bool {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    return ["http", "https"].contains(scheme) && text.dropFirst(scheme.count).hasPrefix("://")
  }

  /// - Throws: ``SourceError`` with code `invalidSettings`.
  package init(_ text: String) throws(SourceError) {
    func refusal(_ reason: String) -> SourceError {
      SourceError(.invalidSettings, "the URL of the manifest \(reason)")
    }
    guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let url = URL(string: text), url.host()?.isEmpty == false
    else { throw refusal("is not a URL of at most \(Self.maximumBytes) characters; \(Self.example)") }
    guard url.user() == nil, url.password() == nil else {
      throw refusal("has a user; use --source-user and --source-password-file")
    }
    guard !text.contains("#") else { throw refusal("has a fragment; remove # and the text after it") }
    guard DownloadURL.isAllowed(url) else {
      throw refusal("has http, and others could change the manifest on its way; use https, or http with localhost only")
    }
    guard url.path().count > 1, !url.path().hasSuffix("/") else { throw refusal("names no file; \(Self.example)") }
    let path = text.prefix { $0 != "?" }
    guard let sidecar = URL(string: path + ".release" + text.dropFirst(path.count)) else {
      throw refusal("cannot have the suffix .release; \(Self.example)")
    }
    self.url = url
    self.sidecar = sidecar
    label = PrintableURL(url).withoutQuery
  }
}
