import CarabinerWire
import TestTools
import Testing

@Suite("Multipart bodies are read as RFC 2046 has them")
struct MultipartReaderTests {
  @Test(
    "the boundary is found, quoted or not, among other parameters, in any case", .rule("multipart.1"),
    arguments: [
      (#"multipart/mixed; boundary=simple"#, "simple"), (#"multipart/mixed;boundary="graphql";deferSpec=20220824"#, "graphql"),
      (#"Multipart/Mixed; deferSpec=20220824 ; BOUNDARY = "a b" "#, "a b"), (#"multipart/mixed;boundary="-""#, "-"),
      (#"multipart/mixed; x="boundary=no; \"boundary=no"; boundary=yes"#, "yes"),
      (#"multipart/mixed; boundary="q\uoted""#, "quoted"),
      (#"multipart/mixed;boundary=gc0pJq0M:08jU534c0p;;"#, "gc0pJq0M:08jU534c0p"),
      (#"multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"#, "graphql"),
      (#"multipart/mixed; boundary=same; boundary="same""#, "same"),
    ])
  func boundary(contentType: String, boundary: String) throws {
    #expect(try MultipartBoundary(contentType: try #require(MediaType(contentType))).description == boundary)
  }

  @Test(
    "a content type without a usable boundary is refused", .rule("multipart.1"),
    arguments: [
      ("multipart/mixed", MultipartError.Code.missingBoundary), ("multipart/mixed; boundary", .missingBoundary),
      ("multipart/mixed; boundary=", .missingBoundary), (#"multipart/mixed; boundary="""#, .missingBoundary),
      (#"multipart/mixed; x="boundary=a""#, .missingBoundary),
      (#"multipart/mixed; boundary="a\\b""#, .invalidBoundary), (#"multipart/mixed; boundary="a ""#, .invalidBoundary),
      ("multipart/mixed; boundary=\(String(repeating: "a", count: 71))", .invalidBoundary),
      ("multipart/mixed; boundary=a; boundary=b", .invalidBoundary), ("multipart/mixed; boundary=é", .invalidBoundary),
    ])
  func noBoundary(contentType: String, code: MultipartError.Code) throws {
    let type = try #require(MediaType(contentType))
    #expect(throws: MultipartError.self) { try MultipartBoundary(contentType: type) }
    do throws(MultipartError) { _ = try MultipartBoundary(contentType: type) } catch { #expect(error.code == code) }
  }

  @Test(
    "a text that is not a media type is refused", .rule("multipart.1"),
    arguments: ["", "multipart", "/", "a/", "/b", "a/b/c", #"multipart/mixed; boundary="a"#, #"multipart/mixed; boundary="a"b"#])
  func noMediaType(text: String) {
    #expect(MediaType(text) == nil)
  }

  @Test("boundaries of 1 and of 70 characters work", .rule("multipart.2"), arguments: [1, 2, 69, 70])
  func boundaryLengths(length: Int) throws {
    let boundary = String(repeating: "-", count: length)
    let reading = try MultipartReading(
      "--\(boundary)\r\n\r\none\r\n--\(boundary)\r\n\r\ntwo\r\n--\(boundary)--", boundary: boundary)
    #expect(reading.bodies == ["one", "two"])
    #expect(reading.error == nil)
  }

  @Test("the first delimiter may open the body, a preamble and an epilogue are ignored", .rule("multipart.2"))
  func preambleAndEpilogue() throws {
    let core = "--b\r\n\r\nx\r\n--b--"
    for text in [
      core, "\r\n\(core)", "pre\r\n--bb\r\n\(core)", "\(core)\r\nepilogue\r\n--b\r\n\r\ny", "\(core) \t\r\n",
      "pre--b\r\n\r\nno\n\(core)",
    ] {
      for partEnd in MultipartReader.PartEnd.allCases {
        let reading = try MultipartReading(text, partEnd: partEnd)
        #expect(reading.bodies == ["x"] && reading.error == nil, "\(text.debugDescription)")
      }
    }
  }

  @Test("a boundary inside the JSON of a part does not end it", .rule("multipart.2"))
  func boundaryInsideText() throws {
    let json = #"{"data":{"text":"--b","more":"\r\n--b--\r\n"}}"#
    for partEnd in MultipartReader.PartEnd.allCases {
      #expect(try MultipartReading("--b\r\n\r\n\(json)\r\n--b--", partEnd: partEnd).bodies == [json])
    }
  }

  @Test("a line with text after the boundary is not a delimiter; padding is allowed up to a limit", .rule("multipart.2"))
  func notADelimiter() throws {
    let padding = String(repeating: " ", count: MultipartLimits.maximumPaddingBytes)
    #expect(
      try MultipartReading("--b\r\n\r\nx\r\n--bX\r\ny\r\n--b\(padding)\r\n\r\nz\r\n--b--").bodies == ["x\r\n--bX\r\ny", "z"])
    #expect(try MultipartReading("--b\r\n\r\nx\r\n--b\(padding) \r\n--b--").bodies == ["x\r\n--b\(padding) "])
  }

  @Test("a part that ends at the boundary is there before the rest of its line, which must be empty", .rule("multipart.2"))
  func endsAtBoundary() throws {
    var reader = MultipartReader(boundary: try MultipartBoundary("b"), partEnd: .atBoundary)
    reader.append(Array("--b\r\n\r\n{}\r\n--b".utf8))
    #expect(try reader.next()?.body == Array("{}".utf8))
    #expect(try reader.next() == nil)
    var closing = reader
    closing.append(Array("--".utf8))
    #expect(try closing.next() == nil)
    #expect(closing.isClosed)
    reader.append(Array("X\r\n".utf8))
    #expect(throws: MultipartError.self) { try reader.next() }
    #expect(try MultipartReading("--b\r\n\r\n{}\r\n--bX\r\n--b--", partEnd: .atBoundary).error == .malformedDelimiter)
  }

  @Test(
    "a body that ends without the close delimiter is truncated", .rule("multipart.2"),
    arguments: [
      "", "--b", "--b\r\n", "--b\r\nA: b", "--b\r\n\r\nx", "--b\r\n\r\nx\r\n--b", "--b\r\n\r\nx\r\n--b\r\n",
      "--b\r\n\r\nx\r\n--b-", "x\r\n--c--",
    ])
  func truncated(text: String) throws {
    for partEnd in MultipartReader.PartEnd.allCases {
      #expect(try MultipartReading(text, partEnd: partEnd).error == .truncated)
    }
  }

  @Test("the error stays, and bytes that come after it change nothing", .rule("multipart.2"))
  func errorStays() throws {
    var reader = MultipartReader(boundary: try MultipartBoundary("b"))
    reader.append(Array("--b\r\nno header\r\n".utf8))
    for _ in 0..<2 {
      #expect(throws: MultipartError.self) { try reader.next() }
      reader.append(Array("\r\n--b--".utf8))
      #expect(!reader.isClosed)
    }
  }

  @Test("part headers are read in any case, with white space or without, and folded", .rule("multipart.3"))
  func headers() throws {
    let part = try #require(
      try MultipartReading("--b\r\ncontent-TYPE :\tapplication/json;\r\n charset=\"UTF-8\"\r\nX:\r\n\r\n{}\r\n--b--").parts.first)
    let type = try #require(part.header("content-type").flatMap(MediaType.init))
    #expect(type.isJSON && type.parameter("charset") == "UTF-8")
    #expect(part.header("x") == "")
    #expect(part.header("y") == nil)
  }

  @Test(
    "JSON is known by its media type", .rule("multipart.3"),
    arguments: [
      ("application/json", true), ("APPLICATION/JSON;charset=utf-8", true), ("application/graphql-response+json", true),
      ("text/plain", false), ("application/jsonp", false), ("application/x-ndjson", false),
    ])
  func jsonTypes(text: String, isJSON: Bool) {
    #expect(MediaType(text)?.isJSON == isJSON)
  }

  @Test("headers that are none, or never end, are refused", .rule("multipart.3"))
  func badHeaders() throws {
    #expect(try MultipartReading("--b\r\nnothing\r\n\r\nx\r\n--b--").error == .malformedHeader)
    #expect(try MultipartReading("--b\r\n: x\r\n\r\nx\r\n--b--").error == .malformedHeader)
    #expect(try MultipartReading("--b\r\n folded\r\n\r\nx\r\n--b--").error == .malformedHeader)
    let limit = MultipartLimits.defaultMaximumHeaderBytes
    #expect(try MultipartReading("--b\r\n" + String(repeating: "A: b\r\n", count: limit / 6 + 1)).error == .headerTooLarge)
    #expect(try MultipartReading("--b\r\nA: " + String(repeating: "b", count: limit)).error == .headerTooLarge)
  }

  @Test("a part has a size limit, and so has the preamble", .rule("multipart.6"))
  func partLimit() throws {
    let limits = MultipartLimits(maximumPartBytes: 10)
    #expect(try MultipartReading("--b\r\n\r\n0123456789\r\n--b--", limits: limits).bodies == ["0123456789"])
    #expect(try MultipartReading("--b\r\n\r\n0123456789a\r\n--b--", limits: limits).error == .partTooLarge)
    #expect(try MultipartReading("--b\r\n\r\n0123456789abcdef", limits: limits).error == .partTooLarge)
    #expect(try MultipartReading("0123456789abcdef0123456789", limits: limits).error == .partTooLarge)
  }

  @Test("128 KiB of almost-delimiters, byte by byte, takes no more than linear time", .rule("multipart.6"))
  func hostileBody() throws {
    let boundary = String(repeating: "-", count: 70)
    let almost = Array(("\n--" + String(repeating: "-", count: 69)).utf8)
    for piece in [almost, [0x2D], [0x0A], almost + [0x2D, 0x58]] {
      var reader = MultipartReader(boundary: try MultipartBoundary(boundary))
      reader.append(Array("--\(boundary)\r\n\r\n".utf8))
      var count = 0
      let start = ContinuousClock.now
      while count < 1 << 17 {
        for byte in piece {
          reader.append(CollectionOfOne(byte))
          try #require(try reader.next() == nil)
        }
        count += piece.count
      }
      // Quadratic time would take many minutes. The limit is not a measurement.
      #expect(ContinuousClock.now - start < .seconds(60))
    }
  }
}
