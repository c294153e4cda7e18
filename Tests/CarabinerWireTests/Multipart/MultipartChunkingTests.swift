import CarabinerWire
import TestTools
import Testing

@Suite("However a multipart body is cut, its parts are the same")
struct MultipartChunkingTests {
  struct Document: CustomTestStringConvertible, Sendable {
    let name: String
    let boundary: String
    let text: String

    var bytes: [UInt8] { Array(text.utf8) }
    var testDescription: String { name }
  }

  static let documents = [
    Document(
      name: "two parts of JSON", boundary: "-",
      text:
        "\r\n---\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 33\r\n\r\n{\"data\":{\"a\":1},\"hasNext\":true}\r\n"
        + "---\r\nContent-Type: application/json\r\n\r\n{\"hasNext\":false}\r\n-----\r\n"),
    Document(
      name: "preamble, epilogue, padding", boundary: "graphql",
      text:
        "a preamble\r\n--graphqlX\r\n--graphql \t\r\nA:b\r\n\r\n{}\r\n--graphql--  \r\nan epilogue\r\n--graphql\r\n\r\nno\r\n--graphql--"
    ),
    Document(name: "bare line feeds", boundary: "b", text: "--b\nA: 1\nB : 2\n\n{\"a\":\n1}\n\n--b\n\nsecond\n--b--"),
    Document(
      name: "text that looks like a delimiter", boundary: "bound",
      text:
        "--bound\r\n\r\n--boundX\r\n--bound x\r\n--boun\r\n --bound\r\n--bound-\r\n--bound--x\r\n-\r\n--\r\n\r\r\n--bound\r\r\r\n--bound\r\n\r\n"
        + "\n--bound--"),
    Document(name: "empty parts", boundary: "b", text: "--b\r\n\r\n--b\r\nA: b\r\n\r\n--b\r\n\r\n\r\n--b\r\n--b--\r\n"),
    Document(name: "a folded header", boundary: "b", text: "--b\r\nA: one\r\n two\r\n\tthree\r\n\r\nx\r\n--b--\r\n"),
    Document(name: "no parts", boundary: "b", text: "--b--"),
    Document(name: "a line that is not a header", boundary: "b", text: "--b\r\nA: b\r\nnothing\r\n\r\nx\r\n--b--\r\n"),
    Document(name: "broken off", boundary: "b", text: "--b\r\n\r\n{}\r\n--b\r\n\r\n{\"a\":"),
    Document(name: "nothing", boundary: "b", text: ""),
  ]

  @Test("every place to cut a body in two", .rule("multipart.6"), arguments: documents, MultipartReader.PartEnd.allCases)
  func everySplit(document: Document, partEnd: MultipartReader.PartEnd) throws {
    let whole = try MultipartReading([document.bytes[...]], boundary: document.boundary, partEnd: partEnd)
    for place in 0...document.bytes.count {
      let reading = try MultipartReading(
        [document.bytes[..<place], document.bytes[place...]], boundary: document.boundary, partEnd: partEnd)
      #expect(reading == whole, "cut at \(place)")
    }
  }

  @Test("one byte at a time", .rule("multipart.6"), arguments: documents, MultipartReader.PartEnd.allCases)
  func singleBytes(document: Document, partEnd: MultipartReader.PartEnd) throws {
    let whole = try MultipartReading([document.bytes[...]], boundary: document.boundary, partEnd: partEnd)
    let reading = try MultipartReading(
      document.bytes.indices.map { document.bytes[$0...$0] }, boundary: document.boundary, partEnd: partEnd)
    #expect(reading == whole)
  }

  @Test("a reader that takes the whole body line by line sees the same parts", .rule("multipart.2"), arguments: documents)
  func reference(document: Document) throws {
    let reading = try MultipartReading([document.bytes[...]], boundary: document.boundary)
    #expect(reading == MultipartReading(reference: document.bytes, boundary: document.boundary))
  }

  @Test("20,000 random bodies, cut at random, against the reference", .rule("multipart.6"), arguments: [1, 2, 3, 4] as [UInt64])
  func randomBodies(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("-b\r\n \tX:{".utf8)
    var closed = 0
    for _ in 0..<5_000 {
      let document = Self.documents.randomElement(using: &generator) ?? Self.documents[0]
      let bytes =
        generator.chance(2)
        ? generator.mutate(document.bytes, alphabet: alphabet) : Self.randomBody(document.boundary, &generator)
      let reference = MultipartReading(reference: bytes, boundary: document.boundary)
      let chunks = Self.chunks(of: bytes, &generator)
      let reading = try MultipartReading(chunks, boundary: document.boundary)
      #expect(reading == reference, "\(String(decoding: bytes, as: UTF8.self).debugDescription) cut as \(chunks.map(\.count))")
      if reading.error == nil { closed += 1 }
      let eager = try MultipartReading(chunks, boundary: document.boundary, partEnd: .atBoundary)
      let eagerWhole = try MultipartReading([bytes[...]], boundary: document.boundary, partEnd: .atBoundary)
      #expect(eager == eagerWhole)
    }
    #expect(closed > 300)
  }

  @Test(
    "long parts with what nearly is a delimiter, in long chunks", .rule("multipart.2", "multipart.6"),
    arguments: [1, 2, 3, 4] as [UInt64])
  func longParts(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var bytes = Array("--b\r\n\r\n".utf8)
      for _ in 0..<Int.random(in: 1..<12, using: &generator) {
        bytes += [UInt8](repeating: UInt8(ascii: "x"), count: Int.random(in: 0..<700, using: &generator))
        bytes += Array(
          (["\n-", "\r\n--", "\r\n--b", "\n--b\n\n", "\r\n--b\r\nA: b\r\n\r\n"].randomElement(using: &generator) ?? "").utf8)
      }
      bytes += Array("\r\n--b--".utf8)
      let chunks = Self.chunks(of: bytes, upTo: 400, &generator)
      #expect(
        try MultipartReading(chunks, boundary: "b") == MultipartReading(reference: bytes, boundary: "b"),
        "\(String(decoding: bytes, as: UTF8.self).debugDescription) cut as \(chunks.map(\.count))")
      let eager = try MultipartReading(chunks, boundary: "b", partEnd: .atBoundary)
      #expect(try eager == MultipartReading([bytes[...]], boundary: "b", partEnd: .atBoundary))
    }
  }

  @Test("limits strike at the same place however the body is cut", .rule("multipart.6"), arguments: [1, 2, 3] as [UInt64])
  func limits(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let bytes = Self.randomBody("b", &generator)
      let limits = MultipartLimits(
        maximumPartBytes: Int.random(in: 1...12, using: &generator), maximumHeaderBytes: Int.random(in: 1...12, using: &generator)
      )
      for partEnd in MultipartReader.PartEnd.allCases {
        let whole = try MultipartReading([bytes[...]], boundary: "b", partEnd: partEnd, limits: limits)
        let cut = try MultipartReading(Self.chunks(of: bytes, &generator), boundary: "b", partEnd: partEnd, limits: limits)
        #expect(cut == whole, "\(String(decoding: bytes, as: UTF8.self).debugDescription) with \(limits)")
      }
    }
  }

  static func randomBody(_ boundary: String, _ generator: inout SeededGenerator) -> [UInt8] {
    let pieces = [
      "--\(boundary)", "\r\n--\(boundary)\r\n", "\n--\(boundary)\n", "\r\n--\(boundary)--", "--", "\r\n", "\n", "\r", " ", "\t",
      "A: b",
      "\r\n\r\n", "{}", "x", "-", boundary, ":", "\r\n--\(boundary)\r\nA: b\r\n\r\n",
    ]
    return (0..<Int.random(in: 0..<16, using: &generator)).flatMap { _ in
      Array((pieces.randomElement(using: &generator) ?? "").utf8)
    }
  }

  static func chunks(of bytes: [UInt8], upTo most: Int = 7, _ generator: inout SeededGenerator) -> [ArraySlice<UInt8>] {
    var chunks: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 0...min(most, rest.count), using: &generator)
      chunks.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return chunks
  }
}
