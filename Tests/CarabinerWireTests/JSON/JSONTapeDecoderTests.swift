import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("Types are decoded from a tape as Foundation decodes them")
struct JSONTapeDecoderTests {
  fileprivate struct Everything: Decodable, Equatable {
    struct Part: Decodable, Equatable {
      let id: Int
      let next: [Part]?
    }

    enum State: String, Decodable { case open, held }

    let text: String
    let flag: Bool?
    let count: Int
    let small: Int8?
    let large: UInt64?
    let ratio: Double
    let single: Float?
    let parts: [Part]
    let state: State?
    let table: [String: [Int?]]?
    let numbered: [Int: String]?
    let date: Date?
  }

  /// The result of decoding a text: a value, or the kind and the place of an error.
  private enum Outcome<Value: Equatable>: Equatable {
    case value(Value)
    case failure(String, [String])

    init(_ decode: () throws -> Value) {
      do {
        self = .value(try decode())
      } catch DecodingError.keyNotFound(let key, let context) {
        self = .failure("no \(key.stringValue)", context.codingPath.map(\.stringValue))
      } catch DecodingError.typeMismatch(let type, let context) {
        self = .failure("not \(type)", context.codingPath.map(\.stringValue))
      } catch DecodingError.valueNotFound(let type, let context) {
        self = .failure("null for \(type)", context.codingPath.map(\.stringValue))
      } catch DecodingError.dataCorrupted(let context) {
        self = .failure("corrupted", context.codingPath.map(\.stringValue))
      } catch {
        self = .failure("\(error)", [])
      }
    }
  }

  private func expectSame<Value: Decodable & Equatable>(_ type: Value.Type, _ text: String) {
    let ours = Outcome { try JSONTape.decode(type, from: Array(text.utf8)) }
    #expect(ours == Outcome { try JSONDecoder().decode(type, from: Data(text.utf8)) }, "\(text)")
  }

  private static let whole = #"""
    {"text":"a\n\u00e9","flag":null,"count":-3,"small":127,"large":18446744073709551615,"ratio":1.5e2,"single":0.25,
     "parts":[{"id":1,"next":[{"id":2}]},{"id":3.0,"next":null}],"state":"held","table":{"a":[1,null],"b\u0062":[]},
     "numbered":{"1":"x"},"date":7.5}
    """#

  @Test("values of all kinds")
  func everything() throws {
    expectSame(Everything.self, Self.whole)
    let value = try JSONTape.decode(Everything.self, from: Array(Self.whole.utf8))
    #expect(value.parts == [.init(id: 1, next: [.init(id: 2, next: nil)]), .init(id: 3, next: nil)])
    #expect(value.table == ["a": [1, nil], "bb": []])
    #expect(value.large == .max)
  }

  @Test(
    "a value that does not match causes the same error at the same place",
    arguments: [
      (#""text":"a"#, #""txet":"a"#), (#""text":"a\n\u00e9""#, #""text":1"#), (#""text":"a\n\u00e9""#, #""text":null"#),
      (#""flag":null"#, #""flag":0"#), (#""flag":null"#, #""flag":"true""#), ("-3", "true"), ("-3", "1e3"),

      ("1.5e2", "[]"), ("0.25", #""0.25""#), (#""id":2"#, #""di":2"#), (#""id":2"#, #""id":{}"#),
      (#"[{"id":1"#, #"[7,{"id":1"#), (#"[{"id":1"#, #"[null,{"id":1"#), (#""parts":["#, #""parts":{},"more":["#),
      (#""held""#, #""shut""#), (#""held""#, "1"), ("[1,null]", #"[1,"2"]"#), (#"{"1":"x"}"#, #"{"one":"x"}"#),
      ("7.5", #""now""#),
    ])
  func errors(old: String, new: String) {
    let text = Self.whole.replacingOccurrences(of: old, with: new)
    #expect(text != Self.whole)
    expectSame(Everything.self, text)
  }

  // Foundation does not report the place.
  @Test(
    "a number that does not fit its type is an error with its place",
    arguments: [
      ("-3", "-3.5", "count"), ("-3", "1e300", "count"), ("127", "128", "small"), ("1.5e2", "1e999", "ratio"),
      ("18446744073709551615", "18446744073709551616", "large"), ("18446744073709551615", "-1", "large"),
    ])
  func numbers(old: String, new: String, field: String) {
    let text = Self.whole.replacingOccurrences(of: old, with: new)
    #expect(Outcome { try JSONTape.decode(Everything.self, from: Array(text.utf8)) } == .failure("corrupted", [field]))
  }

  @Test(
    "other things than objects",
    arguments: [
      "[]", "[1,2]", "{}", "7", "null", "[[1],[]]", "true", #""s""#, "[null]", #"["a","b\u00e9"]"#, #"["a",1]"#, "[5,-1e3]",
    ])
  func shapes(text: String) {
    expectSame([Int].self, text)
    expectSame([[Int]].self, text)
    expectSame([String].self, text)
    expectSame([Double].self, text)
    expectSame([String: [String]].self, #"{"in":\#(text)}"#)
    expectSame([Int?].self, text)
    expectSame([String: Int].self, text)
    expectSame(Int?.self, text)
    expectSame(String.self, text)
    expectSame(Bool?.self, text)
  }

  private struct ByHand: Decodable, Equatable {
    var seen: [String] = []

    enum Key: String, CodingKey { case a, b, list }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      seen.append(
        "\(container.allKeys.map(\.rawValue).sorted()) \(container.contains(.b)) \(try container.decodeNil(forKey: .a))")
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      seen.append("\(list.count ?? -1)")
      let inner = try list.nestedContainer(keyedBy: Key.self)
      seen.append(try inner.decode(String.self, forKey: .b))
      var numbers = try list.nestedUnkeyedContainer()
      while !numbers.isAtEnd { seen.append("\(numbers.currentIndex) \(try numbers.decode(Int.self))") }
      seen.append("\(try list.decodeNil()) \(try list.superDecoder().singleValueContainer().decode(Bool.self)) \(list.isAtEnd)")
      seen.append("\(try list.decodeIfPresent(Int.self) as Int?)")
    }
  }

  @Test("containers that a type requests explicitly")
  func byHand() {
    expectSame(ByHand.self, #"{"list":[{"b":"x"},[4,5],null,true,null],"a":null,"c":1}"#)
    expectSame(ByHand.self, #"{"list":[{"b":"x"},[4,5],null,true],"a":null,"b":1}"#)
    expectSame(ByHand.self, #"{"list":[{"b":"x"},{}],"a":null}"#)
  }

  @Test("JSON in a typed result keeps its digits and the order of its members")
  func json() throws {
    let text = #"[{"z":1.0,"a":[18446744073709551616]}]"#
    let values = try JSONTape.decode([JSONValue].self, from: Array(text.utf8))
    #expect(values.first?.description == #"{"z":1.0,"a":[18446744073709551616]}"#)
  }

  @Test("members come in any order, many of them, and deep")
  func lookups() throws {
    let members = (0..<500).map { #""k\#($0)":\#($0)"# }
    for text in ["{\(members.joined(separator: ","))}", "{\(members.reversed().joined(separator: ","))}"] {
      let table = try JSONTape.decode([String: Int].self, from: Array(text.utf8))
      #expect(table.count == 500 && table.allSatisfy { $0.key == "k\($0.value)" })
    }
    let deep = String(repeating: #"{"id":1,"next":["#, count: 100) + String(repeating: "]}", count: 100)
    expectSame(Everything.Part.self, deep)
  }

  @Test("numbers around the limit of 15 digits, and 2,000 random ones")
  func digits() throws {
    var generator = SeededGenerator(seed: 15)
    var numbers = [
      "0", "-0", "0.0", "-0.0", "0.1", "-12.50", "999999999999999", "-999999999999999", "1000000000000000", "9007199254740993",
      "-9223372036854775808", "9223372036854775807", "0.30000000000000004", "99999999999999.9", "0.00000000000001", "1.0", "1e3",
      "123456789012345.6", "1234567890123456789012345",
    ]
    for _ in 0..<2000 {
      let (count, point) = (Int.random(in: 1...18, using: &generator), Int.random(in: 1...18, using: &generator))
      var text = generator.chance(2) ? "-" : ""
      text += "\(Int.random(in: 1...9, using: &generator))"
      for place in 1..<max(count, 2) {
        if place == point { text += "." }
        text += "\(Int.random(in: 0...9, using: &generator))"
      }
      numbers.append(text)
    }
    for number in numbers {
      let bytes = Array(number.utf8)
      let double = try JSONTape.decode(Double.self, from: bytes)
      #expect(double.bitPattern == Double(number)?.bitPattern, "\(number)")
      // Above 2^53, a number with a point is not exact.
      guard Int(number) != nil || abs(double) < 0x1p53 else { continue }
      let exact = Int(number) ?? Int(exactly: double)
      #expect((try? JSONTape.decode(Int.self, from: bytes)) == exact, "\(number)")
      #expect((try? JSONTape.decode(UInt8.self, from: bytes)) == exact.flatMap(UInt8.init(exactly:)), "\(number)")
    }
  }

  @Test("a name of any length is found only if each byte is the same")
  func names() throws {
    for length in 1...40 {
      let name = String(repeating: "n", count: length)
      let others = (0..<length).map { place in String(name.prefix(place)) + "m" + String(name.dropFirst(place + 1)) }
      let members = (others + [name + "n", String(name.dropLast())]).map { #""\#($0)":0"# }
      let without = "{\(members.joined(separator: ","))}"
      let with = "{\(members.joined(separator: ",")),\"\(name)\":1}"
      try Member.$name.withValue(name) { () throws in
        #expect(try JSONTape.decode(Member.self, from: Array(with.utf8)).value == 1)
        #expect(try JSONTape.decode(Member.self, from: Array(without.utf8)).value == nil)
      }
    }
  }

  /// The member with ``name``.
  private struct Member: Decodable {
    @TaskLocal static var name = ""

    struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init(stringValue: String) { self.stringValue = stringValue }

      init?(intValue: Int) { nil }
    }

    let value: Int?

    init(from decoder: any Decoder) throws {
      value = try decoder.container(keyedBy: Key.self).decodeIfPresent(Int.self, forKey: Key(stringValue: Self.name))
    }
  }

  /// Twelve types, so that some of them share a place among the forms that the decoder remembers.
  private struct Wide: Decodable, Equatable {
    struct Box<Value: Decodable & Equatable>: Decodable, Equatable { let value: Value }

    let a: [Box<Int>], b: [Box<String>], c: [Box<[Int]>], d: [[Box<Bool>]], e: [Box<Double?>], f: [Box<[String: Int]>]
    let g: [Date], h: [Box<Date>], i: [JSONValue], j: [Box<[Box<Int8>]>], k: [Int64], l: [[[UInt]]]
  }

  @Test("arrays of more types than the decoder remembers")
  func manyTypes() throws {
    let text = #"""
      {"a":[{"value":1},{"value":2}],"b":[{"value":"x"}],"c":[{"value":[1,2]},{"value":[]}],"d":[[{"value":true}],[]],
       "e":[{"value":null},{"value":1.5}],"f":[{"value":{"k":1}}],"g":[7.5,8],"h":[{"value":9}],"i":[],
       "j":[{"value":[{"value":1},{"value":-1}]}],"k":[1,2,3],"l":[[[1],[]],[]]}
      """#
    expectSame(Wide.self, text)
    expectSame([Wide].self, "[\(text),\(text)]")
    for (old, new) in [
      (#"{"value":2}"#, #"{"value":"2"}"#), (#"[{"value":"x"}]"#, #"{"value":"x"}"#), (#"[{"value":true}]"#, "[null]"),
      ("[7.5,8]", "[7.5,true]"), (#"{"value":-1}"#, #"{"value":300}"#), ("[1,2,3]", "null"), ("[[1],[]]", "[[1],{}]"),
    ] {
      let changed = text.replacingOccurrences(of: old, with: new)
      #expect(changed != text)
      if new.contains("300") {
        #expect(throws: DecodingError.self) { try JSONTape.decode(Wide.self, from: Array(changed.utf8)) }
      } else {
        expectSame(Wide.self, changed)
      }
    }
  }
}
