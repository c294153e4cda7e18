internal import Carabiner
internal import CarabinerManifest
package import FoundationEssentials

/// An endpoint of an upstream, with its references resolved.
package struct UpstreamEndpoint: Sendable, Hashable {
  package let url: URL
  let text: String
  package let weight: Int
  package let isBackup: Bool
  /// The endpoint in metrics and messages: as written in the manifest, without user name, password and query.
  package let label: String

  /// - Throws: ``UpstreamError`` if the URL is not valid.
  init(_ text: String, written: String, weight: Int = 1, isBackup: Bool = false, place: String) throws {
    guard let url = URL(string: text), url.host() != nil, ["http", "https"].contains(url.scheme?.lowercased()) else {
      throw UpstreamError("\(place) is not an http or https URL with a host: \(PrintableURL(written)); correct it")
    }
    self.url = url
    self.text = url.absoluteString
    self.weight = weight
    self.isBackup = isBackup
    label = PrintableURL(written).withoutQuery
  }

  /// The host name that is looked up; nil for an IP address, and for a name of this machine, which is left to libcurl.
  var lookedUpName: String? {
    guard let host = url.host(), !host.contains(":"), host != "localhost", !host.hasSuffix(".localhost") else { return nil }
    return host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) } ? nil : host
  }

  /// The URL of a request for this endpoint, made from that for another endpoint.
  ///
  /// - Parameters:
  ///   - request: The URL of the request. GET adds query items to that of the endpoint.
  ///   - first: The endpoint that the request was made for.
  /// - Returns: Nil if the request has another URL, because a stage changed it.
  func url(of request: URL, madeFor first: UpstreamEndpoint) -> URL? {
    let text = request.absoluteString
    if text == first.text { return url }
    guard text.hasPrefix(first.text) else { return nil }
    let items = text.dropFirst(first.text.count)
    guard items.first == (first.text.contains("?") ? "&" : "?") else { return nil }
    return URL(string: "\(self.text)\(self.text.contains("?") ? "&" : "?")\(items.dropFirst())")
  }
}
