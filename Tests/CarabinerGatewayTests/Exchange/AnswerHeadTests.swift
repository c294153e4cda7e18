import FoundationEssentials
import NIOCore
import NIOHTTP1
import Testing

@testable import CarabinerGateway

/// The framing of responses for all statuses and versions.
@Suite("The head of an answer")
struct AnswerHeadTests {
  private func exchange(_ requests: String, _ body: @escaping @Sendable (GatewayReply) -> Void) throws -> (String, isOpen: Bool) {
    let gateway = try EmbeddedGateway(RecordingHandler { _, reply in body(reply) })
    try gateway.send(requests)
    return (try gateway.received(), gateway.isOpen)
  }

  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test(
    "a response whose status allows no body has none, and the next one follows its head", arguments: [204, 205, 304])
  func bodiless(_ status: Int) throws {
    let (text, isOpen) = try exchange(Self.get + Self.get) { reply in
      reply.answer(HTTPResponseStatus(statusCode: status), ["Content-Type": "text/plain"], ByteBuffer(string: "HTTP/1.1 200 OK"))
    }
    let answers = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
    #expect(answers.count == 2 && answers.allSatisfy { $0.hasPrefix("\(status) ") && $0.hasSuffix("\r\n\r\n") }, "\(text)")
    let lengths = text.matches(of: /Content-Length: (.*)\r\n/).map { String($0.1) }
    // RFC 9110, 8.6 and 15.3.6.
    #expect(lengths == (status == 205 ? ["0", "0"] : []))
    #expect(isOpen)
  }

  @Test("a number that is not a final status becomes 500", arguments: [0, 42, 100, 101, 199, 600, 999, 1000, 99_999])
  func noStatus(_ status: Int) throws {
    let (text, _) = try exchange(Self.get) { $0.answer(HTTPResponseStatus(statusCode: status), [:], ByteBuffer(string: "a")) }
    #expect(text.hasPrefix("HTTP/1.1 500 Internal Server Error\r\n") && text.hasSuffix("\r\n\r\na"), "\(text)")
  }

  @Test("HEAD is answered as GET, without the body, also where the answer comes in pieces (RFC 9110, 9.3.2)")
  func head() throws {
    let head = Self.get.replacing("GET", with: "HEAD")
    let (whole, _) = try exchange(head + head) { $0.answer(.ok, [:], ByteBuffer(string: "abc")) }
    #expect(whole.matches(of: /Content-Length: 3/).count == 2 && !whole.contains("abc"), "\(whole)")
    let (pieces, isOpen) = try exchange(head + head) { reply in
      reply.begin(.ok, [:])
      reply.endWith(ByteBuffer(string: "abc"))
    }
    #expect(
      pieces.matches(of: /HTTP\/1.1 200/).count == 2 && !pieces.contains("abc") && pieces.hasSuffix("\r\n\r\n"), "\(pieces)")
    #expect(!pieces.contains("\r\n0\r\n") && isOpen)
  }

  @Test("an answer in pieces ends a connection of HTTP/1.0, which has no chunks (RFC 9112, 7.1)")
  func oldClient() throws {
    let request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    let (pieces, isOpen) = try exchange(request) { reply in
      reply.begin(.ok, [:])
      reply.endWith(ByteBuffer(string: "abc"))
    }
    #expect(pieces.hasSuffix("\r\n\r\nabc") && pieces.contains("Connection: close"), "\(pieces)")
    #expect(!pieces.contains("chunked") && !isOpen)
    let (whole, staysOpen) = try exchange(request + request) { $0.answer(.ok, [:], ByteBuffer(string: "abc")) }
    #expect(whole.matches(of: /Connection: keep-alive/).count == 2 && staysOpen, "\(whole)")
  }

  @Test("all answers have a date, and so have refusals (RFC 9110, 6.6.1)")
  func date() throws {
    #expect(DateField.text(of: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    for request in [Self.get, "x\r\n\r\n"] {
      let (text, _) = try exchange(request) { $0.answer(.ok, [:], ByteBuffer()) }
      #expect(text.matches(of: /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/).count == 1, "\(text)")
    }
  }
}
