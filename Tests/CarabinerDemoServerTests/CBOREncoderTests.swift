import CarabinerWire
import Testing

@testable import CarabinerDemoServer

/// CBOR of RFC 8949 in the shortest form.
@Suite("Demo server: CBOR")
struct CBOREncoderTests {
  private func hex(_ json: String) throws -> String {
    try CBOREncoder.encode(try JSONValue(parsing: json)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test(
    "the examples of appendix A",
    arguments: [
      ("0", "00"), ("23", "17"), ("24", "1818"), ("255", "18ff"), ("256", "190100"), ("1000", "1903e8"), ("65536", "1a00010000"),
      ("1000000000000", "1b000000e8d4a51000"), ("18446744073709551615", "1bffffffffffffffff"), ("-1", "20"), ("-1000", "3903e7"),
      ("-9223372036854775808", "3b7fffffffffffffff"), ("-18446744073709551615", "3bfffffffffffffffe"), ("0.0", "f90000"),
      ("-0", "f98000"), ("-0.0", "f98000"), ("1.0", "f93c00"),
      ("1.5", "f93e00"), ("65504.0", "f97bff"), ("1e5", "fa47c35000"), ("3.4028234663852886e+38", "fa7f7fffff"),
      ("1.1", "fb3ff199999999999a"), ("5.960464477539063e-8", "f90001"), ("-4.1", "fbc010666666666666"), ("false", "f4"),
      ("true", "f5"), ("null", "f6"), ("\"\"", "60"), ("\"IETF\"", "6449455446"), ("\"\\\"\\\\\"", "62225c"),
      ("\"ü\"", "62c3bc"), ("[]", "80"), ("[1,[2,3],[4,5]]", "8301820203820405"), ("{}", "a0"),
      ("{\"a\":1,\"b\":[2,3]}", "a26161016162820203"),
    ])
  func examples(json: String, expected: String) throws {
    #expect(try hex(json) == expected)
  }

  @Test("lengths over 23 have a separate byte")
  func lengths() throws {
    let text = String(repeating: "x", count: 300)
    #expect(try hex("\"\(text)\"").hasPrefix("79012c"))
    let array = JSONValue.array(Array(repeating: nil, count: 25))
    #expect(try hex(array.description).hasPrefix("9819f6"))
  }

  @Test("a number that CBOR cannot represent is refused", arguments: ["18446744073709551616", "-18446744073709551616", "1e999"])
  func refused(json: String) throws {
    #expect(throws: CBOREncoder.TooLarge(lexeme: json)) { try hex(json) }
  }
}
