internal import Carabiner
internal import FoundationEssentials

/// Redirects are followed here and not in libcurl, so that this module controls which headers another origin receives.
extension HTTPURLResponse {
  /// The target of a redirect; nil if the response is not a redirect.
  var redirectTarget: String? {
    switch statusCode {
    case 301, 302, 303, 307, 308: headers["Location"]
    default: nil
    }
  }
}

extension URLRequest {
  /// The headers that describe bodies and contain nothing about the caller.
  private static let contentHeaders = ["Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Content-Language"]

  /// The request that follows a redirect.
  ///
  /// - Parameter listed: The headers that another origin receives, in addition to those that describe the body.
  func redirected(by response: HTTPURLResponse, to target: String, taking listed: [String]) throws -> URLRequest {
    guard let next = URL(string: target, relativeTo: url)?.absoluteURL, next.hasWebScheme, next.host()?.isEmpty == false
    else {
      throw refusal(
        "the server redirects to \(PrintableURL(target).description.debugDescription), which is not an http or https URL")
    }
    guard url.scheme?.lowercased() == "http" || next.scheme?.lowercased() == "https" else {
      throw refusal(
        "the server redirects from https to \(PrintableURL(target)), which would send the request unencrypted")
    }
    let keepsMethod = response.statusCode == 307 || response.statusCode == 308
    if keepsMethod, case .streamed? = body {
      throw refusal("the server redirects to \(PrintableURL(target)), and the body is a stream, which is sent once")
    }
    var request = self
    request.url = next
    if !url.hasSameOrigin(as: next) {
      let patterns = Self.contentHeaders + listed
      request.headers.fields.removeAll { field in !patterns.contains { field.name.isHeaderName(like: $0) } }
    }
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

extension String {
  /// Whether a header's name is this one, or begins as a pattern that ends with a star.
  fileprivate func isHeaderName(like pattern: String) -> Bool {
    guard pattern.hasSuffix("*") else { return isSameHeaderName(as: pattern) }
    return utf8.count >= pattern.utf8.count - 1
      && String(decoding: utf8.prefix(pattern.utf8.count - 1), as: UTF8.self).isSameHeaderName(as: String(pattern.dropLast()))
  }
}

extension URL {
  fileprivate func hasSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased() && host()?.lowercased() == other.host()?.lowercased()
      && effectivePort == other.effectivePort
  }
}
