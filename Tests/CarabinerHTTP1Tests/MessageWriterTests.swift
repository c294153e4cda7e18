import CarabinerHTTP1
import Testing

@Suite("The writer of HTTP/1.1 messages")
struct MessageWriterTests {
  private var writer = MessageWriter()

  private var text: String { String(decoding: writer.bytes, as: UTF8.self) }

  @Test("a request has its line, its headers and its own framing")
  mutating func request() throws {
    try writer.beginRequest(method: "POST", target: "/graphql?a=b")
    try writer.addField("Host", "example.com:8080")
    try writer.addField("content-length", "7")
    try writer.addField("Transfer-Encoding", "gzip")
    try writer.addField("X-Empty", "")
    writer.endHead(.length(1_234_567_890))
    writer.addBody([UInt8]("{}".utf8).span)
    #expect(
      text == "POST /graphql?a=b HTTP/1.1\r\nHost: example.com:8080\r\nX-Empty: \r\nContent-Length: 1234567890\r\n\r\n{}")
  }

  @Test("chunks are written with their sizes, and an empty one does not end the body")
  mutating func chunks() throws {
    try writer.beginResponse(status: 200, reason: "OK")
    writer.endHead(.chunked)
    for chunk in ["0123456789abcdef", "", "x"] { writer.addChunk([UInt8](chunk.utf8).span) }
    writer.endChunks()
    #expect(text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n1\r\nx\r\n0\r\n\r\n")
    let read = Transcript([writer.bytes])
    #expect(read.body == "0123456789abcdefx" && read.isEnded && read.isReusable)
  }

  @Test("headers of another message are copied as the bytes that came, without its framing")
  mutating func copies() throws {
    var reader = ResponseReader()
    _ = Transcript([Array("HTTP/1.1 200 OK\r\nX-a:\t\u{e9} \r\nContent-Length: 0\r\n\r\n".utf8)], &reader)
    try writer.beginResponse(status: 404, reason: "Not Found")
    for index in 0..<reader.headers.count { writer.addField(index, of: reader.headers) }
    writer.endHead(.none)
    #expect(text == "HTTP/1.1 404 Not Found\r\nX-a: \u{e9}\r\n\r\n")
    writer.removeAll()
    #expect(writer.bytes.isEmpty)
  }

  @Test(
    "a text that would end a line or begin another message is refused, and leaves nothing behind",
    arguments: ["", "a b", "a\rb", "a\nb", "a\0b"])
  mutating func refuses(_ text: String) {
    #expect(throws: MessageWriter.Fault.method) { try writer.beginRequest(method: text, target: "/") }
    #expect(throws: MessageWriter.Fault.target) { try writer.beginRequest(method: "GET", target: text) }
    #expect(throws: MessageWriter.Fault.header) { try writer.addField(text, "v") }
    if text.contains(where: { "\r\n\0".contains($0) }) {
      #expect(throws: MessageWriter.Fault.header) { try writer.addField("X", text) }
    }
    #expect(throws: MessageWriter.Fault.status) { try writer.beginResponse(status: 99, reason: "") }
    #expect(writer.bytes.isEmpty)
  }
}
