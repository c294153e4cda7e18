import CarabinerRESP
import TestTools
import Testing

/// The reader of answers, with all types and at any portions.
@Suite("Answers in RESP2 and RESP3")
struct ReplyReaderTests {
  /// Bytes, and the answers in them.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let shapes: [String]

    init(_ name: String, _ text: String, _ shapes: String...) {
      (testDescription, bytes, self.shapes) = (name, Array(text.utf8), shapes)
    }

    init(_ name: String, bytes: [UInt8], _ shapes: String...) {
      (testDescription, self.bytes, self.shapes) = (name, bytes, shapes)
    }
  }

  static let samples = [
    Sample("a status", "+OK\r\n", "+OK"), Sample("an empty status", "+\r\n", "+"),
    Sample("an error", "-WRONGTYPE not a hash\r\n", "-WRONGTYPE not a hash"),
    Sample("integers", ":0\r\n:-1\r\n:+7\r\n", "0", "-1", "7"),
    Sample(
      "the largest and the smallest integer", ":9223372036854775807\r\n:-9223372036854775808\r\n", "9223372036854775807",
      "-9223372036854775808"),
    Sample("a text", "$5\r\nhello\r\n", "\"hello\""), Sample("an empty text", "$0\r\n\r\n", "\"\""),
    Sample("a text with CR, LF and types in it", "$10\r\n\r\n$3\r\n*1\r\n\r\n", "\"\r\n$3\r\n*1\r\n\""),
    Sample("a text that is not UTF-8", bytes: Array("$2\r\n".utf8) + [0xFF, 0] + Array("\r\n".utf8), "\"[255, 0]\""),
    Sample("the nulls of RESP2", "$-1\r\n*-1\r\n", "nil", "nil"), Sample("the null of RESP3", "_\r\n", "nil"),
    Sample("booleans", "#t\r\n#f\r\n", "#t", "#f"),
    Sample(
      "doubles", ",1.25\r\n,-3\r\n,1e3\r\n,1.5E-2\r\n,10.\r\n,inf\r\n,-inf\r\n,nan\r\n", ",1.25", ",-3.0", ",1000.0", ",0.015",
      ",10.0", ",inf", ",-inf", ",nan"),
    Sample(
      "big numbers", "(3492890328409238509324850943850943825024385\r\n(-1\r\n", "(3492890328409238509324850943850943825024385",
      "(-1"),
    Sample("an error of a length", "!22\r\nSYNTAX invalid\r\nsyntax\r\n", "-SYNTAX invalid\r\nsyntax"),
    Sample("verbatim texts", "=15\r\ntxt:Some string\r\n=4\r\nmkd:\r\n", "txt:\"Some string\"", "mkd:\"\""),
    Sample("arrays", "*2\r\n$1\r\na\r\n:1\r\n*0\r\n", "[\"a\" 1]", "[]"),
    Sample("arrays in arrays", "*3\r\n*0\r\n*2\r\n*1\r\n+a\r\n_\r\n+b\r\n", "[[] [[+a] nil] +b]"),
    Sample("a map", "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n", "{+a 1 +b [2]}"), Sample("an empty map", "%0\r\n", "{}"),
    Sample("a set", "~2\r\n+a\r\n#t\r\n", "~[+a #t]"),
    Sample("a push", ">3\r\n+message\r\n+c\r\n$1\r\nx\r\n", ">[+message +c \"x\"]"),
    Sample("a push between answers", "+a\r\n>1\r\n+invalidate\r\n+b\r\n", "+a", ">[+invalidate]", "+b"),
    Sample("an attribute", "|1\r\n+ttl\r\n:3600\r\n$1\r\nx\r\n", "\"x\""),
    Sample("attributes inside an array", "*2\r\n|1\r\n+a\r\n*1\r\n|0\r\n+b\r\n:1\r\n|0\r\n:2\r\n", "[1 2]"),
    Sample("two attributes and a push", "|0\r\n|0\r\n>1\r\n+p\r\n", ">[+p]"),
    Sample("EXEC of RESP2", "+OK\r\n+QUEUED\r\n*1\r\n*2\r\n$1\r\na\r\n$-1\r\n", "+OK", "+QUEUED", "[[\"a\" nil]]"),
    Sample(
      "HELLO of RESP3", "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n$7\r\nmodules\r\n*0\r\n",
      "{\"server\" \"redis\" \"proto\" 3 \"modules\" []}"),
    Sample("eight levels", String(repeating: "*1\r\n", count: 8) + "+a\r\n", "[[[[[[[[+a]]]]]]]]"),
  ]

  static func read(_ portions: [some Collection<UInt8>], _ limits: RESPLimits = RESPLimits()) throws -> [String] {
    var reader = ReplyReader(limits: limits)
    var shapes: [String] = []
    for portion in portions {
      reader.append(portion)
      while let reply = try reader.next() { shapes.append(reply.shape) }
    }
    #expect(!reader.isInsideReply)
    return shapes
  }

  @Test("all types are read", .rule("redis.2"), arguments: samples)
  func types(sample: Sample) throws {
    #expect(try Self.read([sample.bytes]) == sample.shapes)
  }

  @Test("an answer in two portions, or in single bytes, is the same, wherever it is cut", .rule("redis.2"), arguments: samples)
  func portions(sample: Sample) throws {
    for place in 0...sample.bytes.count {
      #expect(try Self.read([sample.bytes[..<place], sample.bytes[place...]]) == sample.shapes, "cut at \(place)")
    }
    #expect(try Self.read(sample.bytes.map { [$0] }) == sample.shapes)
  }

  @Test("all answers behind one another are read, wherever they are cut", .rule("redis.2"))
  func pipelined() throws {
    let bytes = Self.samples.flatMap(\.bytes)
    let shapes = Self.samples.flatMap(\.shapes)
    for size in [1, 2, 3, 7, 64, 1000] {
      let portions = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
      #expect(try Self.read(portions) == shapes, "portions of \(size) bytes")
    }
  }

  /// Bytes that are not an answer.
  struct Fault: Sendable, CustomTestStringConvertible {
    let text: String
    let code: RESPError.Code
    let offset: Int

    var testDescription: String { "\(text.prefix(40).debugDescription)" }

    init(_ text: String, _ code: RESPError.Code, at offset: Int = 0) {
      (self.text, self.code, self.offset) = (text, code, offset)
    }
  }

  static let faults = [
    Fault("HTTP/1.1 400 Bad Request\r\n", .unknownType), Fault("\r\n", .unknownType), Fault("+OK\r\nx", .unknownType, at: 5),
    Fault("+a\nb\r\n", .malformedLine), Fault("+a\rb\r\n", .malformedLine), Fault(":\r\n", .malformedLine),
    Fault(":-\r\n", .malformedLine), Fault(":1x\r\n", .malformedLine), Fault(":9223372036854775808\r\n", .malformedLine),
    Fault(":-9223372036854775809\r\n", .malformedLine), Fault("$-2\r\n", .malformedLine), Fault("$\r\n", .malformedLine),
    Fault("$1 \r\n", .malformedLine), Fault("$+1\r\n", .malformedLine), Fault("$?\r\n", .misplaced), Fault("*?\r\n", .misplaced),
    Fault("$3\r\nabcd\r\n", .malformedText, at: 4), Fault("$3\r\nabc\rx", .malformedText, at: 4), Fault("_x\r\n", .malformedLine),
    Fault("#x\r\n", .malformedLine), Fault("#\r\n", .malformedLine), Fault(",\r\n", .malformedLine),
    Fault(",1.2.3\r\n", .malformedLine),
    Fault(",1e\r\n", .malformedLine), Fault(",infinity\r\n", .malformedLine), Fault("(1.5\r\n", .malformedLine),
    Fault("(-\r\n", .malformedLine), Fault("=3\r\ntxt\r\n", .malformedText, at: 4),
    Fault("=5\r\ntxtab\r\n", .malformedText, at: 4),
    Fault("!-1\r\n", .malformedLine), Fault("%-1\r\n", .malformedLine), Fault("~-1\r\n", .malformedLine),
    Fault(">-1\r\n", .malformedLine),
    Fault(">0\r\n", .malformedLine), Fault("*1\r\n>1\r\n+a\r\n", .misplaced, at: 4),
    Fault(String(repeating: "*1\r\n", count: 9), .tooDeep, at: 32),
    Fault(String(repeating: "|1\r\n", count: 9), .tooDeep, at: 32),
    Fault(String(repeating: "%1\r\n+a\r\n", count: 9), .tooDeep, at: 64),
    Fault("$67108864\r\n", .tooLarge), Fault("$99999999999999999999\r\n", .tooLarge), Fault("*1048577\r\n", .tooLarge),
    Fault("%524289\r\n", .tooLarge), Fault("*4294967295\r\n", .tooLarge),
  ]

  @Test(
    "an answer that breaks the protocol is an error with its place, and nothing is read after it", .rule("redis.2"),
    arguments: faults)
  func broken(fault: Fault) throws {
    for size in [1, 3, fault.text.utf8.count] {
      var reader = ReplyReader()
      let bytes = Array(fault.text.utf8)
      let error = #expect(throws: RESPError.self) {
        for place in stride(from: 0, to: bytes.count, by: size) {
          reader.append(bytes[place..<min(place + size, bytes.count)])
          while try reader.next() != nil {}
        }
      }
      #expect(error?.code == fault.code, "\(String(describing: error))")
      #expect(error?.offset == fault.offset, "\(String(describing: error))")
      reader.append(Array("+OK\r\n".utf8))
      let again = #expect(throws: RESPError.self) { try reader.next() }
      #expect(again == error)
    }
  }
}
