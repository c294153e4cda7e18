import CarabinerWire
import TestTools
import Testing

@Suite("Trailers of gRPC-Web")
struct TrailerBlockTests {
  @Test(
    "a block is read line by line", .rule("connect.56"),
    arguments: [
      ("", [:]), ("grpc-status: 0\r\n", ["grpc-status": ["0"]]), ("GRPC-Status:0", ["grpc-status": ["0"]]),
      ("a: 1\r\nA:2\r\nb: x, y\r\n", ["a": ["1", "2"], "b": ["x, y"]]), ("a: 1\nb: 2\n", ["a": ["1"], "b": ["2"]]),
      ("no colon\r\n: no name\r\na: b:c \r\n\r\n", ["a": ["b:c"]]), ("a:\r\n", ["a": [""]]),
    ])
  func blocks(text: String, fields: [String: [String]]) {
    #expect(TrailerBlock(parsing: Array(text.utf8)).fields == fields)
  }

  @Test(
    "a status is a number",
    arguments: [("0", 0), ("13", 13), ("99999999999999999999", nil), ("", nil), ("x", nil), ("-1", -1)] as [(String, Int?)])
  func statuses(text: String, status: Int?) {
    let block = TrailerBlock(parsing: Array("grpc-status: \(text)\r\n".utf8))
    #expect(block.status == status)
    #expect(block.hasStatus)
  }

  @Test(
    "a message is decoded, and kept as it is if it cannot be", .rule("connect.56"),
    arguments: [("a%20b%C3%A9", "a bé"), ("100%", "100%"), ("%FF", "%FF"), ("", "")])
  func messages(text: String, message: String) {
    #expect(TrailerBlock(parsing: Array("grpc-message: \(text)\r\n".utf8)).message == message)
  }

  /// `google.rpc.Status` with the code 5, the message "no" and one detail.
  private static let status: [UInt8] =
    [8, 5, 0x12, 2, 0x6E, 0x6F, 0x1A, 10, 0x0A, 3, 0x61, 0x2E, 0x42, 0x12, 3, 1, 2, 3]

  @Test("the details of a status are read", .rule("connect.56"))
  func details() {
    let block = TrailerBlock(parsing: Array("grpc-status-details-bin: \(Base64.urlEncoded(Self.status))\r\n".utf8))
    #expect(block.details == [.init(type: "a.B", payload: [1, 2, 3])])
  }

  @Test("a status that is cut off is malformed, or has no detail", arguments: 0..<18)
  func cutOff(length: Int) {
    let details = StatusMessage(parsing: Array(Self.status[..<length]))?.details
    #expect(details == nil || details == [])
  }

  @Test(
    "a malformed status has no details",
    arguments: [
      [0x1A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
      [0x1A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
      [0], [0x1B], [0x19, 1], [0x1D, 1], [0x1A, 1, 0x0B],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    #expect(StatusMessage(parsing: bytes) == nil)
  }

  @Test("fields of other kinds are skipped")
  func skipped() {
    #expect(
      StatusMessage(parsing: [0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x2D, 1, 2, 3, 4, 0x1A, 0])?.details == [.init(type: "", payload: [])]
    )
  }
}
