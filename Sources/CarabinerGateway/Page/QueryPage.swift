internal import CarabinerDigest
internal import CarabinerWire
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1

/// A page for trying out queries: a single file without external resources. Its policy allows only its own script and style.
struct QueryPage: Sendable {
  let body: ByteBuffer
  let fields: ReplyFields

  init() {
    let page = PackageResources.query_page_html
    body = ByteBuffer(bytes: page)
    let text = String(decoding: page, as: UTF8.self)
    fields = [
      "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
      "Content-Security-Policy": "default-src 'none'; script-src '\(Self.hash(of: "script", in: text))'; "
        + "style-src '\(Self.hash(of: "style", in: text))'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'",
      "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    ]
  }

  /// Whether a browser requests the page: the client accepts `text/html`.
  static func isMeant(by request: GatewayRequest) -> Bool {
    guard [.GET, .HEAD].contains(request.head.method), let accept = request.header("accept") else { return false }
    return MediaRange.list(accept).contains { $0.type == "text/html" && $0.quality > 0 }
  }

  /// The CSP hash of the element's content (CSP 3, 2.3.1).
  private static func hash(of element: String, in page: String) -> String {
    guard let start = page.firstRange(of: "<\(element)>"), let end = page.firstRange(of: "</\(element)>") else { return "none" }
    return "sha256-" + Data(Digest.sha256(Array(page[start.upperBound..<end.lowerBound].utf8))).base64EncodedString()
  }
}
