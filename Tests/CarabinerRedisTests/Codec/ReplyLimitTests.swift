import CarabinerRESP
import TestTools
import Testing

/// Answers at their limits and beyond them.
@Suite("Limits of answers")
struct ReplyLimitTests {
  private static func limits(bytes: Int = 64 << 20, depth: Int = 8, line: Int = 64 << 10, values: Int = 1 << 20) -> RESPLimits {
    var limits = RESPLimits()
    (limits.replyBytes, limits.depth, limits.lineBytes, limits.values) = (bytes, depth, line, values)
    return limits
  }

  private static func read(_ text: String, _ limits: RESPLimits) throws -> [String] {
    try ReplyReaderTests.read([Array(text.utf8)], limits)
  }

  /// An answer that is exactly at a limit, the limit, and an answer beyond it.
  struct Edge: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let limits: RESPLimits
    let within: String
    let beyond: String
    let code: RESPError.Code
  }

  static let edges = [
    Edge(
      testDescription: "bytes of a text", limits: limits(bytes: 11), within: "$5\r\nhello\r\n$4\r\nfour\r\n", beyond: "$6\r\n",
      code: .tooLarge),
    Edge(
      testDescription: "bytes of an array", limits: limits(bytes: 16), within: "*3\r\n:1\r\n:2\r\n:3\r\n",
      beyond: "*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n",
      code: .tooLarge),
    Edge(
      testDescription: "bytes with attributes", limits: limits(bytes: 16), within: "|0\r\n|0\r\n|0\r\n:1\r\n",
      beyond: "|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n", code: .tooLarge),
    Edge(
      testDescription: "levels", limits: limits(depth: 2), within: "*1\r\n~1\r\n:1\r\n", beyond: "*1\r\n~1\r\n%0\r\n",
      code: .tooDeep),
    Edge(testDescription: "no levels", limits: limits(depth: 0), within: ":1\r\n", beyond: "*0\r\n", code: .tooDeep),
    Edge(testDescription: "a line", limits: limits(line: 3), within: "+abc\r\n:123\r\n", beyond: "-abcd\r\n", code: .lineTooLong),
    Edge(
      testDescription: "values in all levels", limits: limits(values: 4), within: "*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n",
      beyond: "*2\r\n*3\r\n", code: .tooLarge),
    Edge(
      testDescription: "values of a map", limits: limits(values: 4), within: "%2\r\n:1\r\n:2\r\n:3\r\n:4\r\n", beyond: "%3\r\n",
      code: .tooLarge),
  ]

  @Test("an answer at the limit is read, and one beyond it ends the connection", .rule("redis.2"), arguments: edges)
  func reached(edge: Edge) throws {
    #expect(try !Self.read(edge.within, edge.limits).isEmpty)
    let error = #expect(throws: RESPError.self) { try Self.read(edge.beyond, edge.limits) }
    #expect(error?.code == edge.code)
  }

  @Test("an answer of 64 MiB is read, and a byte more is refused before it comes", .rule("redis.2"))
  func defaults() throws {
    let limit = RESPLimits().replyBytes
    #expect(limit == 64 << 20 && RESPLimits().depth == 8)
    // Type, length, two line ends.
    let length = limit - 13
    var reader = ReplyReader()
    reader.append(Array("$\(length)\r\n".utf8))
    let portion = [UInt8](repeating: 120, count: 1 << 20)
    for place in stride(from: 0, to: length, by: portion.count) {
      #expect(try reader.next() == nil)
      reader.append(portion.prefix(length - place))
    }
    reader.append(Array("\r\n".utf8))
    #expect(try reader.next()?.content?.count == length)
    reader.append(Array("$\(length + 1)\r\n".utf8))
    let error = #expect(throws: RESPError.self) { try reader.next() }
    #expect(error?.code == .tooLarge)
  }

  @Test("an answer may have a million values, and one more is refused when it is declared", .rule("redis.2"))
  func values() throws {
    let limit = RESPLimits().values
    #expect(limit == 1 << 20)
    var reader = ReplyReader()
    reader.append(Array("*2\r\n*\(limit - 2)\r\n_\r\n".utf8))
    #expect(try reader.next() == nil)
    reader.append(Array("*1\r\n".utf8))
    let error = #expect(throws: RESPError.self) { try reader.next() }
    #expect(error?.code == .tooLarge)
  }

  @Test("an error for people has no control characters, and is short", .rule("redis.2"))
  func errors() throws {
    var reader = ReplyReader()
    reader.append(Array("!9\r\nERR \u{1B}[3\nm\r\n-ERR \(String(repeating: "x", count: 1000))\r\n".utf8))
    let escaped = try #require(try reader.next())
    #expect(escaped.errorText == "ERR  [3 m" && escaped.errorCode == "ERR")
    #expect(try reader.next()?.errorText?.count == 300)
    reader.append(Array("-ERR unknown command 'AUTH', with args beginning with: 's3cret'\r\n".utf8))
    #expect(try reader.next()?.errorText == "ERR unknown command 'AUTH'")
  }
}
