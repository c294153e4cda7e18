import CarabinerHTTP1
import Testing

@Suite("The reader of HTTP/1.1 requests")
struct RequestReaderTests {
  /// The parts that a reader reported of a request, independent of the portions of bytes.
  struct Reading: Equatable {
    var method = ""
    var target = ""
    var authority: String?
    var fields: [String] = []
    var body = ""
    var trailers: [String] = []
    var isEnded = false
    var rest = ""
    var error: HTTP1Error?

    init(_ portions: [[UInt8]], _ reader: inout RequestReader) {
      reader.begin()
      do throws(HTTP1Error) {
        for (index, portion) in portions.enumerated() {
          let position = try read(portion, &reader)
          guard isEnded else { continue }
          rest = String(decoding: portion[position...] + portions[(index + 1)...].joined(), as: UTF8.self)
          break
        }
      } catch {
        self.error = error
      }
    }

    private mutating func read(_ portion: [UInt8], _ reader: inout RequestReader) throws(HTTP1Error) -> Int {
      var position = 0
      while true {
        switch try reader.next(portion.span, &position) {
        case .needsBytes: return position
        case .head:
          let headers = reader.headers
          method = String(decoding: headers.bytes[reader.methodRange], as: UTF8.self)
          target = String(decoding: headers.bytes[reader.targetRange], as: UTF8.self)
          authority = reader.authorityRange.map { String(decoding: headers.bytes[$0], as: UTF8.self) }
          fields = (0..<headers.count).map { "\(headers.name(at: $0))=\(headers.value(at: $0))" }
        case .body(let range): body += String(decoding: portion[range], as: UTF8.self)
        case .end:
          isEnded = true
          trailers = (0..<reader.trailers.count).map { "\(reader.trailers.name(at: $0))=\(reader.trailers.value(at: $0))" }
          return position
        }
      }
    }
  }

  @Test("a request with a length leaves the bytes of the next one, in any portions")
  func length() {
    let text = "\r\nPOST /a?b HTTP/1.1\r\nHost: h:80\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP"
    for portions in portions(of: text) {
      var reader = RequestReader()
      let read = Reading(portions, &reader)
      #expect(read.error == nil && read.isEnded, "\(portions.map(\.count)): \(read)")
      #expect(read.method == "POST" && read.target == "/a?b" && read.authority == "h:80", "\(read)")
      #expect(read.fields == ["Host=h:80", "Content-Length=5"] && read.body == "hello" && read.rest == "GET / HTTP", "\(read)")
      #expect(reader.bodyLength == 5 && reader.keepsConnection && !reader.isVersion10)
    }
  }

  @Test("a request in chunks has no length, and its trailers are not headers, in any portions")
  func chunks() {
    let text = "PUT /x HTTP/1.1\r\nhost: [::1]:8080\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nHost: other\r\n\r\n"
    for portions in portions(of: text) {
      var reader = RequestReader()
      let read = Reading(portions, &reader)
      #expect(read.error == nil && read.isEnded && read.body == "abc" && read.trailers == ["Host=other"], "\(read)")
      #expect(read.authority == "[::1]:8080" && reader.bodyLength == nil)
    }
  }

  /// A target and what it means.
  struct Target: Sendable, CustomTestStringConvertible {
    let line: String
    let target: String
    let authority: String

    var testDescription: String { line }
  }

  @Test(
    "targets are paths, http URLs and an asterisk",
    arguments: [
      Target(line: "GET /", target: "/", authority: "h"), Target(line: "GET //x", target: "//x", authority: "h"),
      Target(line: "GET http://other:1/p?q", target: "/p?q", authority: "other:1"),
      Target(line: "GET HTTPS://other", target: "", authority: "other"),
      Target(line: "GET http://other?q", target: "?q", authority: "other"),
      Target(line: "OPTIONS *", target: "*", authority: "h"),
    ])
  func targets(_ sample: Target) {
    var reader = RequestReader()
    let read = Reading([Array("\(sample.line) HTTP/1.1\r\nHost: h\r\n\r\n".utf8)], &reader)
    #expect(read.error == nil && read.target == sample.target && read.authority == sample.authority, "\(read)")
  }

  @Test("a length that no number holds is read as the largest, so that the server can refuse it for its size")
  func endlessLength() {
    for length in ["9223372036854775807", "9223372036854775808", "18446744073709551615", "99999999999999999999999999"] {
      var reader = RequestReader()
      let read = Reading([Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n".utf8)], &reader)
      #expect(read.error == nil && reader.bodyLength == .max && !read.isEnded, "\(length): \(read)")
    }
  }

  @Test("the version and the Connection header decide whether the connection is kept")
  func connection() {
    for (text, isKept) in [
      ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", true), ("GET / HTTP/1.1\r\nHost: h\r\nConnection: a, CLOSE\r\n\r\n", false),
      ("GET / HTTP/1.0\r\n\r\n", false), ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
    ] {
      var reader = RequestReader()
      #expect(Reading([Array(text.utf8)], &reader).isEnded)
      #expect(reader.keepsConnection == isKept, "\(text)")
    }
  }

  @Test("an expectation and the offer of another protocol are reported")
  func offers() {
    var reader = RequestReader()
    let head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\n"
    #expect(Reading([Array(head.utf8)], &reader).error == nil)
    #expect(reader.expectsContinue && reader.offersUpgrade)
    #expect(Reading([Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)], &reader).isEnded)
    #expect(!reader.expectsContinue && !reader.offersUpgrade)
  }

  private static let faults: [(String, Int)] = [
    ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400),
    ("GET /\tHTTP/1.1\r\nHost: h\r\n\r\n", 400), (" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / x HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /\r\nHost: h\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /\u{e9} HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / http/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.1\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\n\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", 400), ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent\rLength: 1\r\n\r\nx", 400),
    ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{1}b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{7f}b\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h:8x\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h, i\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400),
    ("GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET http:///x HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505), ("GET / HTTP/1.2\r\nHost: h\r\n\r\n", 505),
    ("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", 501), ("POST / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n", 417),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400),
    ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1,1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1 1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;\u{1}\r\na\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\n\r\n", 400),
  ]

  @Test("a request that can be read in two ways is refused in any portions, with the status of its fault", arguments: faults)
  func refuses(_ text: String, _ status: Int) {
    for portions in portions(of: text) {
      var reader = RequestReader()
      let read = Reading(portions, &reader)
      #expect(read.error?.status == status && !read.isEnded, "\(portions.map(\.count)): \(read)")
    }
  }

  @Test("a head beyond its limits is refused with 431 before it ends")
  func limits() {
    var limits = HTTP1Limits()
    limits.headBytes = 100
    limits.fields = 3
    for text in [
      "GET /\(String(repeating: "x", count: 200))", "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 100))",
      "GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", String(repeating: "\r\n", count: 60),
    ] {
      for portions in portions(of: text) {
        var reader = RequestReader(limits: limits)
        #expect(Reading(portions, &reader).error?.status == 431, "\(text)")
      }
    }
  }

  @Test("one reader reads a row of requests from one portion")
  func row() throws {
    let text =
      "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nxGET /3 HTTP/1.1\r\nHost: h\r\n\r\n"
    var reader = RequestReader()
    var (rest, targets) = (text, [String]())
    while !rest.isEmpty {
      let read = Reading([Array(rest.utf8)], &reader)
      try #require(read.isEnded, "\(read)")
      (rest, targets) = (read.rest, targets + [read.target])
    }
    #expect(targets == ["/1", "/2", "/3"])
  }
}
