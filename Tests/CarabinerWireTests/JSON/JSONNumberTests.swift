import CarabinerWire
import TestTools
import Testing

@Suite("Numbers keep their lexeme", .rule("json.1"))
struct JSONNumberTests {
  @Test(
    "a number is passed on as it was written",
    arguments: [
      "0", "-0", "1.0", "1.10", "1E5", "1e+05", "-2.50e-003", "123456789012345678901234567890.5",
      "0.1000000000000000055511151231257827", "1e999999", "9223372036854775807", "18446744073709551616",
    ])
  func passedOn(lexeme: String) throws {
    let value = try JSONValue(parsing: "[\(lexeme)]")
    #expect(value[0]?.number?.lexeme == lexeme)
    #expect(value.description == "[\(lexeme)]")
    #expect(JSONNumber(lexeme: lexeme)?.lexeme == lexeme)
  }

  @Test(
    "a text that is not a number is refused",
    arguments: [
      "", " 1", "1 ", "01", "+1", ".5", "1.", "1e", "-", "NaN", "0x1", "1,2", "1]", "１", "null", "\"1\"",
    ])
  func checkedLexeme(lexeme: String) {
    #expect(JSONNumber(lexeme: lexeme) == nil)
  }

  @Test(
    "integers come out if they are exact",
    arguments: [
      ("0", 0), ("-0", 0), ("-17", -17), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9223372036854775808", nil), ("1.0", 1), ("1.5", nil), ("1e3", 1000), ("12.50e1", 125), ("1e-1", nil),
      ("9007199254740993.0", 9_007_199_254_740_992), ("1e16", nil), ("1e400", nil), ("1e-400", 0),
    ] as [(String, Int?)])
  func integers(lexeme: String, expected: Int?) {
    #expect(JSONNumber(lexeme: lexeme)?.int == expected)
  }

  @Test(
    "doubles are the nearest",
    arguments: [
      ("0", 0), ("0.1", 0.1), ("1e400", .infinity), ("-1e400", -.infinity),
      ("5e-324", .leastNonzeroMagnitude),
      ("123456789012345678901234567890", 1.2345678901234568e29),
    ] as [(String, Double)])
  func doubles(lexeme: String, expected: Double) {
    #expect(JSONNumber(lexeme: lexeme)?.double == expected)
  }

  @Test(
    "a double is written so that it reads back as itself",
    arguments: [
      0, -0.0, 1, -1, 0.1, 1.5, 1e15, 1e16, 1e21, 1e300, .leastNonzeroMagnitude, -2.2250738585072014e-308,
      9_007_199_254_740_991,
      9_007_199_254_740_994, .greatestFiniteMagnitude, .pi,
    ] as [Double])
  func writtenDoubles(value: Double) throws {
    let number = try #require(JSONNumber(value))
    #expect(number.double == value)
    #expect(number.double.sign == value.sign)
    #expect(JSONNumber(lexeme: number.lexeme) == number)
  }

  @Test("NaN and infinities are not JSON numbers")
  func notFinite() {
    #expect(JSONNumber(.nan) == nil)
    #expect(JSONNumber(.infinity) == nil)
    #expect(JSONNumber(-.infinity) == nil)
  }

  @Test("two numbers are equal if they were written alike")
  func equality() {
    #expect(JSONNumber(lexeme: "1") == JSONNumber(1))
    #expect(JSONNumber(lexeme: "1.0") != JSONNumber(1))
    #expect(JSONNumber(2.0)?.lexeme == "2")
  }
}
