import FoundationEssentials
import NIOCore
import NIOHTTP1
import Testing

@testable import CarabinerGateway

/// The fields of a head that decide which host a request is for and where it ends (RFC 9112, 3 and 6).
@Suite("The head of a request")
struct RequestHeadTests {
  private func answer(_ request: String, _ limits: GatewayLimits = GatewayLimits()) throws -> (text: String, uris: [String]) {
    let handler = RecordingHandler { request, reply in
      reply.answer(.ok, [:], ByteBuffer(string: "host: \(request.header("host") ?? "none")"))
    }
    let gateway = try EmbeddedGateway(handler, limits: limits)
    try gateway.send(request)
    return (try gateway.received(), handler.requests.map(\.head.target))
  }

  @Test(
    "a request names one host, which is a host and perhaps a port (RFC 9112, 3.2)",
    arguments: [
      ("HTTP/1.1", "", 400), ("HTTP/1.1", "Host: a\r\nHost: a\r\n", 400), ("HTTP/1.1", "Host:\r\n", 400),
      ("HTTP/1.1", "Host: a b\r\n", 400), ("HTTP/1.1", "Host: a,b\r\n", 200), ("HTTP/1.1", "Host: a@b\r\n", 400),
      ("HTTP/1.1", "Host: a/b\r\n", 400), ("HTTP/1.1", "Host: a:b\r\n", 400), ("HTTP/1.1", "Host: a:80:80\r\n", 400),
      ("HTTP/1.1", "Host: [::1\r\n", 400), ("HTTP/1.1", "Host: [::1]x\r\n", 400), ("HTTP/1.1", "Host: :80\r\n", 400),
      ("HTTP/1.1", "Host: a\u{7F}\r\n", 400), ("HTTP/1.1", "Host: ä\r\n", 400),
      ("HTTP/1.1", "Host: a\r\n", 200), ("HTTP/1.1", "hOST:  a.example:8080 \r\n", 200), ("HTTP/1.1", "Host: [::1]:80\r\n", 200),
      ("HTTP/1.1", "Host: a:\r\n", 200),
      ("HTTP/1.0", "", 200), ("HTTP/1.0", "Host: a\r\nHost: b\r\n", 400), ("HTTP/1.0", "Host: a b\r\n", 400),
    ])
  func host(_ version: String, _ fields: String, _ status: Int) throws {
    let (text, uris) = try answer("GET / \(version)\r\n\(fields)\r\n")
    #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)")
    #expect(uris.count == (status == 200 ? 1 : 0))
  }

  @Test(
    "a body in a transfer coding that is not known is refused, and so is any with HTTP/1.0 (RFC 9112, 6.1)",
    arguments: [
      ("HTTP/1.1", "gzip, chunked", 501), ("HTTP/1.1", "gzip,chunked", 501), ("HTTP/1.1", "chunked, chunked", nil),
      ("HTTP/1.1", "identity", nil), ("HTTP/1.1", "gzip\r\nTransfer-Encoding: chunked", 501),
      ("HTTP/1.0", "chunked", 400), ("HTTP/1.1", "Chunked", 200), ("HTTP/1.1", " chunked ", 200),
    ] as [(String, String, Int?)])
  func transferCoding(_ version: String, _ coding: String, _ status: Int?) throws {
    let (text, uris) = try answer("POST / \(version)\r\nHost: a\r\nTransfer-Encoding: \(coding)\r\n\r\n0\r\n\r\n")
    if let status { #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)") }
    #expect(text.hasPrefix("HTTP/1.1 200") == (status == 200), "\(text)")
    #expect(uris.count == (status == 200 ? 1 : 0))
  }

  @Test(
    "a length that is too large is refused before the body comes, also one that no number holds",
    arguments: ["1048577", "9223372036854775807", "9223372036854775808", "18446744073709551615"])
  func length(_ length: String) throws {
    let (text, uris) = try answer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 413"), "\(text)")
    #expect(uris.isEmpty)
  }

  @Test(
    "a target in absolute form is served, and its host counts (RFC 9112, 3.2.2)",
    arguments: [
      ("http://other/graphql?a=b", "/graphql?a=b", "other"), ("HTTPS://other:8080", "/", "other:8080"),
      ("http://other?a", "/?a", "other"), ("/graphql", "/graphql", "gateway"),
    ])
  func absoluteForm(_ target: String, _ uri: String, _ host: String) throws {
    let (text, uris) = try answer("GET \(target) HTTP/1.1\r\nHost: gateway\r\n\r\n")
    #expect(uris == [uri])
    #expect(text.hasSuffix("host: \(host)"), "\(text)")
  }

  @Test(
    "a target that is neither a path nor an http URL is refused",
    arguments: [
      ("GET http://user@other/", 400), ("GET http:///", 400), ("GET ftp://other/", 400), ("CONNECT other:80", 501),
      ("GET *", 400), ("GET http://ot her/", 400),
    ])
  func target(_ line: String, _ status: Int) throws {
    let (text, uris) = try answer("\(line) HTTP/1.1\r\nHost: gateway\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)")
    #expect(uris.isEmpty)
  }

  @Test("an HTTP/1.0 client gets no 100 Continue, and an HTTP/1.1 client does (RFC 9110, 10.1.1)")
  func expectation() throws {
    let rest = "Host: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    #expect(try answer("POST / HTTP/1.1\r\n\(rest)").text == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(try answer("POST / HTTP/1.0\r\n\(rest)").text.isEmpty)
  }
}
