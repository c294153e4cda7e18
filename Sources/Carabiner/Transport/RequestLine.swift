internal import CarabinerWire
package import FoundationEssentials

/// The valid content of a request line (RFC 9112, 3).
package enum RequestLine {
  /// The maximum length of a method, in bytes.
  package static let maximumMethodBytes = 32

  /// Whether bytes are a method that a client can send: a token, and not CONNECT, which turns the connection into a tunnel.
  package static func isMethod(_ bytes: some Collection<UInt8>) -> Bool {
    (1...maximumMethodBytes).contains(bytes.count) && bytes.allSatisfy(\.isTokenByte) && !bytes.elementsEqual("CONNECT".utf8)
  }

  /// Whether bytes can be part of a target: visible ASCII, so that they end neither the target nor the line.
  package static func isTarget(_ bytes: some Sequence<UInt8>) -> Bool { bytes.allSatisfy { $0 &- 0x21 < 0x5E } }
}

extension URLRequest {
  /// Checks the method and the URL. A transport calls this for each request that it sends.
  ///
  /// If a server parses a line differently from the client, the connection is desynchronised: later requests get the responses of
  /// earlier ones.
  ///
  /// - Throws: ``TransportError`` with the code `unsupportedURL` or `invalidMethod`.
  package func checkLine() throws(TransportError) {
    let text = url.absoluteString
    // A fast path for most URLs. Foundation's URL components would take longer than the rest of the request's path through the
    // transport.
    guard text.hasPlainWebOrigin || (url.hasWebScheme && url.host()?.isEmpty == false) else {
      throw TransportError(
        .unsupportedURL, "\(PrintableURL(text)) is not an http or https URL with a host; check the endpoint", url: text)
    }
    guard RequestLine.isTarget(text.utf8) else {
      throw TransportError(
        .unsupportedURL, "the URL has a character that is not visible ASCII; percent-encode it in the stage that sets the URL",
        url: text)
    }
    guard httpMethod == "POST" || RequestLine.isMethod(httpMethod.utf8) else {
      throw TransportError(
        .invalidMethod,
        "\(httpMethod.prefix(RequestLine.maximumMethodBytes).debugDescription) is not a method that a request can have; correct "
          + "the stage or the plugin that sets it", url: text)
    }
    // The response to HEAD has no body, but a client that has sent a body waits for one.
    guard httpMethod != "HEAD" || body == nil else {
      throw TransportError(.invalidMethod, "a HEAD request cannot have a body; remove the body or use another method", url: text)
    }
  }
}

extension URL {
  /// Whether the scheme is http or https.
  package var hasWebScheme: Bool { ["http", "https"].contains(scheme?.lowercased()) }
}

extension String {
  /// Whether the text begins with `http://` or `https://` in lower case and a letter or digit of a host.
  fileprivate var hasPlainWebOrigin: Bool {
    for scheme in ["http://", "https://"] where utf8.starts(with: scheme.utf8) {
      guard let first = utf8.dropFirst(scheme.utf8.count).first else { return false }
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    }
    return false
  }
}
