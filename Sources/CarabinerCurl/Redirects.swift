internal import Carabiner
internal import FoundationEssentials

/// Redirects are followed here and not in libcurl: which headers may go to another origin is ours to decide, and to test.
extension HTTPURLResponse {
  /// Where this response sends the client; nil if it does not.
  var redirectTarget: String? {
    switch statusCode {
    case 301, 302, 303, 307, 308: headers["Location"]
    default: nil
    }
  }
}

extension URLRequest {
  /// Refuses what is not http or https before libcurl sees it.
  func checkScheme() throws {
    let text = url.absoluteString
    // Nearly every request goes to such a URL, and taking it apart costs more than the rest of its journey through here.
    if text.hasPlainWebOrigin { return }
    guard url.hasWebScheme, url.host()?.isEmpty == false else {
      throw TransportError(
        .unsupportedURL, "\(text.withoutUser) is not an http or https URL with a host; check the endpoint", url: text)
    }
  }

  /// The request a redirect asks for.
  func redirected(by response: HTTPURLResponse, to target: String) throws -> URLRequest {
    guard let next = URL(string: target, relativeTo: url)?.absoluteURL, next.hasWebScheme, next.host()?.isEmpty == false
    else {
      throw refusal("the server redirects to \(target.withoutUser.debugDescription), which is not an http or https URL")
    }
    guard url.scheme?.lowercased() == "http" || next.scheme?.lowercased() == "https" else {
      throw refusal(
        "the server redirects from https to \(target.withoutUser), which would show the request to everybody on the way")
    }
    var request = self
    request.url = next
    if !url.hasSameOrigin(as: next) {
      for name in ["Authorization", "Cookie", "Proxy-Authorization"] { request.headers.remove(name) }
    }
    let keepsMethod = response.statusCode == 307 || response.statusCode == 308
    if !keepsMethod, httpMethod != "GET", httpMethod != "HEAD" {
      request.httpMethod = "GET"
      request.body = nil
      request.isIdempotent = true
      for name in ["Content-Type", "Content-Length", "Content-Encoding"] { request.headers.remove(name) }
    }
    return request
  }

  private func refusal(_ message: String) -> TransportError {
    TransportError(
      .redirectRefused, "\(message); use the final address as the endpoint", url: url.absoluteString, mayHaveBeenSent: true,
      responseBegan: true)
  }
}

extension URL {
  fileprivate var hasWebScheme: Bool { ["http", "https"].contains(scheme?.lowercased()) }

  fileprivate func hasSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased() && host()?.lowercased() == other.host()?.lowercased()
      && effectivePort == other.effectivePort
  }
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
