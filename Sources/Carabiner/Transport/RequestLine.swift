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

  /// Whether a text can be part of a target: visible ASCII, so that it ends neither the target nor the line.
  package static func isTarget(_ text: String) -> Bool {
    let bytes = text.utf8Span.span
    var index = 0
    while index < bytes.count, bytes[index] &- 0x21 < 0x5E { index &+= 1 }
    return index == bytes.count
  }
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
    guard RequestLine.isTarget(text) else {
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
    guard hasPrefix("http") else { return false }
    let length = hasPrefix("http://") ? 7 : hasPrefix("https://") ? 8 : Int.max
    let bytes = utf8Span.span
    guard length < bytes.count else { return false }
    let first = bytes[length]
    return (first | 0x20) &- UInt8(ascii: "a") < 26 || first &- UInt8(ascii: "0") < 10
  }
}
