internal import CarabinerWire
package import FoundationEssentials

/// The rule for URLs of downloads: https for all hosts, http only for this machine.
package enum DownloadURL {
  /// Whether no other machine can read or change a request to the URL.
  package static func isAllowed(_ url: URL) -> Bool {
    guard let host = url.host(), !host.isEmpty else { return false }
    switch url.scheme?.lowercased() {
    case "https": return true
    case "http": return isLoopback(host)
    default: return false
    }
  }

  /// Returns why a text in a manifest cannot be used, and what to write instead; nil if it can be used.
  ///
  /// - Parameter isPrefix: Whether it is the beginning of URLs.
  static func fault(of text: String, isPrefix: Bool = false) -> String? {
    guard !text.contains("${") else { return "references are resolved only in headers of downloads; write the URL itself" }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let url = URL(string: text), let host = url.host(), !host.isEmpty
    else { return "this is not a URL; write one that begins with https://" }
    guard isAllowed(url) else {
      return url.scheme?.lowercased() == "http"
        ? "with http, others can read the request and its headers; write https://, or http:// with localhost, 127.0.0.1 or [::1]"
        : "only https is used for downloads; write a URL that begins with https://"
    }
    guard url.user() == nil, url.password() == nil else {
      return "a URL cannot hold a user or a password; write downloads: with a prefix and the header authorization"
    }
    guard !text.contains("#") else { return "a URL of a file has no fragment; remove # and the text after it" }
    guard isPrefix else {
      return url.path().count > 1 ? nil : "the URL names no file; write its path after the host"
    }
    // Without the slash, the text would also be the beginning of other host names.
    return url.path().isEmpty ? "the prefix ends in the host; write at least a / after it" : nil
  }

  private static func isLoopback(_ host: String) -> Bool {
    if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
    guard let address = IPAddress(host[...]), address.isV4 else { return false }
    return address.low >> 24 & 0xFF == 127 && !host.contains(":")
  }
}
