import CarabinerHTTP1
import Testing

@Suite("The reader of HTTP/1.1 responses")
struct ResponseReaderTests {
  /// A response and what is read of it.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: String
    var isHead = false
    /// Whether the server closes the connection after the text.
    var closes = false
    var interim: [Int] = []
    var status = 200
    var fields: [String]?
    var body = ""
    var trailers: [String] = []
    var isReusable = true
    var rest = ""
  }

  private static let samples: [Sample] = [
    Sample(
      testDescription: "has a length", text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
      fields: ["Content-Length=5", "X-A=b"], body: "hello"),
    Sample(testDescription: "has no reason", text: "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", status: 404),
    Sample(
      testDescription: "has the same length twice", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
      body: "ok"),
    Sample(
      testDescription: "has bytes behind its end", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 ",
      body: "ok",
      rest: "HTTP/1.1 500 "),
    Sample(
      testDescription: "comes in chunks with extensions and trailers",
      text:
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n6;name=\"v\"\r\n world\r\n00\r\nX-Sum: 1\r\n\r\nrest",
      fields: ["Transfer-Encoding=Chunked"], body: "hello world", trailers: ["X-Sum=1"], rest: "rest"),
    Sample(
      testDescription: "ends with the connection", text: "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nuntil the end", closes: true,
      body: "until the end", isReusable: false),
    Sample(
      testDescription: "answers HEAD with the length of GET", text: "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", isHead: true
    ),
    Sample(testDescription: "has status 204", text: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", status: 204),
    Sample(
      testDescription: "has status 304", text: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", status: 304),
    Sample(
      testDescription: "follows interim responses",
      text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
      interim: [100, 103], fields: ["Content-Length=1"], body: "x"),
    Sample(
      testDescription: "closes the connection", text: "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n",
      isReusable: false),
    Sample(
      testDescription: "is of HTTP/1.0", text: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", body: "x", isReusable: false),
    Sample(
      testDescription: "is of HTTP/1.0 and keeps the connection",
      text: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", body: "x"),
    Sample(
      testDescription: "ends lines with a line feed", text: "HTTP/1.1 200 OK\nX: y\nContent-Length: 1\n\nx",
      fields: ["X=y", "Content-Length=1"], body: "x"),
    Sample(
      testDescription: "follows empty lines", text: "\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", body: "x"),
    Sample(
      testDescription: "continues values in the next line",
      text: "HTTP/1.1 200 OK\r\nX:\r\n  a  \r\n\tb\r\nY: c\r\n d e \r\n \r\nContent-Length: 0\r\n\r\n",
      fields: ["X=a b", "Y=c d e ", "Content-Length=0"]),
    Sample(
      testDescription: "has spaces, tabs, colons and UTF-8 in values",
      text: "HTTP/1.1 200 OK\r\nX: \t a\tb: c \t\r\nY:\r\nZ: é\r\nContent-Length: 0\r\n\r\n",
      fields: ["X=a\tb: c", "Y=", "Z=é", "Content-Length=0"]),
  ]

  @Test("a response is read in the same way in any portions", arguments: samples)
  func reads(_ sample: Sample) {
    for portions in portions(of: sample.text) {
      let read = Transcript(portions, isHead: sample.isHead, closes: sample.closes)
      #expect(read.error == nil && read.isEnded, "\(portions.map(\.count)): \(read)")
      #expect(read.interim == sample.interim && read.status == sample.status, "\(read)")
      #expect(sample.fields == nil || read.fields == sample.fields, "\(read)")
      #expect(read.body == sample.body && read.trailers == sample.trailers, "\(read)")
      #expect(read.isReusable == sample.isReusable && read.rest == sample.rest, "\(read)")
    }
  }

  private static let faults: [(String, HTTP1Error.Code)] = [
    ("220 smtp.test ESMTP\r\n\r\n", .malformedHead), ("SSH-2.0-x", .malformedHead), ("HTTP/2", .malformedHead),
    ("HTTP/2 200 OK\r\n\r\n", .malformedHead),
    ("HTTP/1.2 200 OK\r\n\r\n", .malformedHead),
    ("http/1.1 200 OK\r\n\r\n", .malformedHead),
    ("HTTP/1.1  200 OK\r\n\r\n", .malformedHead),
    ("HTTP/1.1 abc OK\r\n\r\n", .malformedHead),
    ("HTTP/1.1 099 OK\r\n\r\n", .malformedHead),
    ("HTTP/1.1 20 OK\r\n\r\n", .malformedHead),
    ("HTTP/1.1 2000 OK\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 O\rK\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\nContent\rLength: 0\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 O\0K\r\n\r\n", .malformedHead),
    ("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", .unexpectedUpgrade),
    ("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\n: v\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\nX Y: z\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\nX : z\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\nX(: z\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\n X: z\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\nX: a\rY: b\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\n\rX: a\r\n\r\n", .malformedHead),
    ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n12345", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .unsupportedCoding),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .unsupportedCoding),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n", .unsupportedCoding),
    ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .ambiguousLength),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a\nx\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\n0\r\n\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", .malformedChunk),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n", .malformedHead),
  ]

  @Test("a response that can be read in two ways, or in none, is an error in any portions", arguments: faults)
  func refuses(_ text: String, _ code: HTTP1Error.Code) {
    for portions in portions(of: text) {
      let read = Transcript(portions)
      #expect(read.error == code && !read.isReusable, "\(portions.map(\.count)): \(read)")
    }
  }

  @Test(
    "a connection that ends before the response is an error",
    arguments: [
      "", "HTTP/1.1 200 OK\r\nX", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
  func endsEarly(_ text: String) {
    for portions in portions(of: text) {
      let read = Transcript(portions, closes: true)
      #expect(read.error == .endedEarly && !read.isReusable, "\(read)")
    }
  }

  @Test("head, interim responses and trailers share one limit of bytes; headers and chunk lines have limits too")
  func limits() {
    var limits = HTTP1Limits()
    limits.headBytes = 60
    let tooLong = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: " + String(repeating: "x", count: 61 - 43) + "\r\n\r\n"
    #expect(tooLong.utf8.count == limits.headBytes + 1)
    for (text, error) in [
      (tooLong.replacing("xx", with: "x", maxReplacements: 1), nil as HTTP1Error.Code?), (tooLong, .headTooLarge),
      ("HTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .headTooLarge),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\nX: y\r\n\r\n", .headTooLarge),
      ("\r\n\r\n" + String(repeating: "\r\n", count: 40), .headTooLarge),
    ] {
      for portions in portions(of: text) { #expect(Transcript(portions, limits: limits).error == error, "\(text)") }
    }
    limits = HTTP1Limits()
    limits.fields = 2
    #expect(Transcript([Array("HTTP/1.1 204 N\r\nA: 1\r\nB: 2\r\n\r\n".utf8)], limits: limits).error == nil)
    #expect(Transcript([Array("HTTP/1.1 204 N\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n".utf8)], limits: limits).error == .headTooLarge)
    limits.chunkLineBytes = 6
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for portions in portions(of: chunked + "0;abc\r\n\r\n") { #expect(Transcript(portions, limits: limits).error == nil) }
    for portions in portions(of: chunked + "0;abcd\r\n\r\n") {
      #expect(Transcript(portions, limits: limits).error == .malformedChunk)
    }
  }

  @Test("a reader is used again for the next response of the connection")
  func again() {
    var reader = ResponseReader()
    let first = Transcript([Array("HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 2\r\n\r\nok".utf8)], &reader)
    let second = Transcript([Array("HTTP/1.1 404 No\r\nY: 2\r\nContent-Length: 0\r\n\r\n".utf8)], &reader)
    #expect(first.fields == ["X=1", "Content-Length=2"] && first.body == "ok" && first.isReusable)
    #expect(second.status == 404 && second.fields == ["Y=2", "Content-Length=0"] && second.body.isEmpty)
  }

  @Test("well-known names have numbers in any case, and others are found by their text")
  func names() {
    var reader = ResponseReader()
    let names = FieldName.allCases.map { "\($0.text)" }
    let head = names.filter { $0 != "transfer-encoding" && $0 != "content-length" }.map { "\($0.uppercased()): \($0)\r\n" }
    _ = Transcript([Array("HTTP/1.1 204 N\r\n\(head.joined())X-Other: y\r\nX-Othes: z\r\n\r\n".utf8)], &reader)
    for name in FieldName.allCases where name != .transferEncoding && name != .contentLength {
      let index = reader.headers.firstIndex(of: name)
      #expect(index.map { reader.headers.value(at: $0) } == "\(name.text)")
    }
    #expect(reader.headers.firstIndex(of: .transferEncoding) == nil)
    #expect(reader.headers.firstIndex(of: "x-OTHER").map { reader.headers.value(at: $0) } == "y")
    #expect(reader.headers.firstIndex(of: "X-Othe") == nil)
    #expect(reader.headers.known(at: reader.headers.count - 1) == nil)
  }
}
