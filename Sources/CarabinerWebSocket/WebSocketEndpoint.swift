internal import Carabiner
internal import Foundation

/// The parts of a WebSocket URL.
struct WebSocketEndpoint: Sendable {
  let url: URL
  let host: String
  let port: Int
  let usesTLS: Bool
  /// The path and query for the request line.
  let target: String

  /// - Throws: ``WebSocketError`` with code `unsupportedURL`.
  init(_ url: URL) throws(WebSocketError) {
    let scheme = url.scheme?.lowercased()
    guard scheme == "ws" || scheme == "wss", let host = url.host(percentEncoded: false), !host.isEmpty,
      RequestLine.isTarget(host), RequestLine.isTarget(url.absoluteString)
    else {
      throw WebSocketError(
        .unsupportedURL, "this is not a WebSocket URL; use ws:// or wss:// with a host",
        url: url.absoluteString)
    }
    self.url = url
    self.host = host
    usesTLS = scheme == "wss"
    port = url.port ?? (usesTLS ? 443 : 80)
    guard (1...65535).contains(port) else {
      throw WebSocketError(.unsupportedURL, "\(port) is not a port; use a number from 1 to 65535", url: url.absoluteString)
    }
    let path = url.path(percentEncoded: true)
    target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
  }

  /// The value of the Host header.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return url.port == nil ? name : "\(name):\(port)"
  }

  /// Whether the host is an IP address, which TLS does not allow as a server name.
  var isAddress: Bool {
    host.contains(":")
      || (host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }.allSatisfy { $0 != nil })
  }
}
