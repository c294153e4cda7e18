import CJSON
import CarabinerWire
import TestTools
import Testing

@Suite("The check of 64 bytes at a time agrees with the one byte by byte")
struct JSONBlockTests {
  /// Checks texts, and reports the first difference.
  private func check(_ texts: [String], after filler: [String] = [""]) { check(texts.map { Array($0.utf8) }, after: filler) }

  private func check(_ texts: [[UInt8]], after filler: [String] = [""]) {
    let memory = GuardedMemory()
    for before in filler.map({ Array($0.utf8) }) {
      for text in texts {
        if let difference = memory.difference(of: before + text) {
          Issue.record("\(difference)")
          return
        }
      }
    }
  }

  /// White space, so that a text begins at places around the end of a block.
  private static let spaces = ([0] + Array(56...66)).map { String(repeating: " ", count: $0) }

  /// All texts of up to `count` words.
  private func texts(of words: [String], count: Int) -> [String] {
    var (all, longest) = ([""], [""])
    for _ in 0..<count {
      longest = longest.flatMap { text in words.map { text + $0 } }
      all += longest
    }
    return all
  }

  @Test("all short texts of brackets, separators and values")
  func structure() {
    check(texts(of: ["{", "}", "[", "]", ",", ":", "\"a\"", "1", "null", " "], count: 4), after: ["", Self.spaces[6]])
    check(texts(of: ["{", "}", "[", "]", ",", ":", "\"\"", "0"], count: 5), after: [Self.spaces[7]])
    // Behind a name and a value, in an object and in an array.
    let ends = texts(of: ["{", "}", "[", "]", ",", ":", "\"a\"", "1"], count: 4)
    for start in [#"{"a":1"#, #"[{"a":[1]"#, "[[],{}"] {
      check(ends, after: [0, 54, 57, 60].map { String(repeating: " ", count: $0) + start })
    }
  }

  @Test("all short texts that may be numbers or words, anywhere in a block")
  func numbers() {
    check(texts(of: ["0", "7", "-", "+", ".", "e"], count: 5), after: Self.spaces)
    let words = texts(of: ["true", "false", "null", "tru", "fals", "e", "1", "E", " "], count: 3)
    check(words, after: Self.spaces)
    check(words.map { $0 + "]" }, after: Self.spaces.map { $0 + "[" })
    check(words.map { $0 + ",\"1\"]" }, after: Self.spaces.map { $0 + "[" })
  }

  @Test("numbers and strings of any length")
  func lengths() {
    let digits = (0...200).map { String(repeating: "9", count: $0) }
    check(digits + digits.map { "-1.\($0)" } + digits.map { "1\($0).5" } + digits.map { "1e-\($0)5" } + digits.map { "0\($0)" })
    check(digits.flatMap { ["[\($0)7,0]", "[0.\($0),1]", "{\"\($0)\":\($0)1.2e3}", "[1,\($0)1.\($0)0e\($0)0]", "[1.5\($0)e5]"] })
    // A number at the end of a block leaves nothing for numbers in later blocks.
    for number in ["0.5", "0e1", "-1", "1e-5", "10", "true"] {
      check((0...70).map { "\(number),\(String(repeating: " ", count: $0))70]" }, after: Self.spaces.map { $0 + "[" })
    }
    check(digits.flatMap { ["\"\($0)\"", "[\"\($0)\"]", "{\"\($0)\":\"\($0)\"}", "\($0)\"", "\"\($0)"] })
  }

  @Test("all characters of several bytes, well-formed or not, within a block and over its end")
  func characters() {
    let seconds: [UInt8] = [0x22, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
    var texts: [[UInt8]] = []
    for first in UInt8(0x80)...0xFF {
      texts += [[first]] + [[], [0x80], [0x80, 0xBF]].flatMap { rest in seconds.map { [first, $0] + rest } }
      texts += [[first, 0x90, 0x7F], [first, 0x90, 0x80, 0xC0], [first, 0xA0, 0xBF, 0x80, 0x80]]
    }
    check(texts.map { $0 + [0x22] }, after: [0, 58, 59, 60, 61, 62].map { "\"" + String(repeating: "a", count: $0) })
    check(texts, after: ["", "\"" + String(repeating: "é", count: 31)])
  }

  @Test("all bytes in strings and outside of them")
  func bytes() {
    let bytes = UInt8.min...UInt8.max
    for text in ["\"a", "[", "[1", "{", "{\"a\"", "{\"a\":", "", "null", "[\"a\""] {
      for (start, end) in [("", ""), ("", "1]"), ("", "\""), (String(repeating: " ", count: 63 - text.utf8.count), "]")] {
        check(bytes.map { Array((start + text).utf8) + [$0] + Array(end.utf8) })
      }
    }
  }

  @Test("escapes, and runs of backslashes of any length, over the end of a block")
  func escapes() {
    let runs = (0...140).map { String(repeating: "\\", count: $0) }
    check(runs.flatMap { ["\"\($0)\"", "[\"\($0)n\",\"\($0)\"]", "\"\($0)", "{\"\($0)\":\"\\\"\($0)\"}", "\"\($0)u0041\""] })
    let escapes = [
      #"\n"#, #"\/"#, #"\u0041"#, #"\uD83D\uDE00"#, #"\uD83D"#, #"\uDE00"#, #"\ud83d\u0041"#, #"\uD83D\n"#, #"\uD83D\uDE0"#,
      #"\u12G4"#, #"\x"#, #"\uDBFF\uDFFF\uDC00"#, #"\U0041"#, #"\u004"#, #"\"#,
    ]
    for escape in escapes {
      let cut = (1...escape.utf8.count).map { String(escape.utf8.prefix($0)) ?? "" }
      check(cut.flatMap { [$0, $0 + "\"", $0 + "\"]"] }, after: (50...64).map { "[\"" + String(repeating: "a", count: $0) })
    }
  }

  @Test("the nesting limit, also for empty containers")
  func depth() {
    let memory = GuardedMemory()
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[ {\"b\" : ", "\n} ]")] {
      for count in [1, 2, 31, 32, 33, 63, 64, 65, 128, 512, 1024] {
        let text = String(repeating: open, count: count) + "[]" + String(repeating: close, count: count)
        for deepest in [1, count - 1, count, count + 1, 2 * count, 2 * count + 1, 1024] {
          let difference = memory.difference(of: Array(text.utf8), limits: JSONLimits(maximumDepth: deepest))
          #expect(difference == nil)
        }
      }
    }
  }

  private static let alphabet = Array(#"{}[]",:\ue+-.0129ntf /"#.utf8) + [0x80, 0xC3, 0xED, 0xF0, 0xEF]

  @Test("random texts, whole, cut and changed", arguments: [1, 2, 3, 4] as [UInt64])
  func random(seed: UInt64) {
    var random = RandomJSON(seed: seed)
    var texts: [[UInt8]] = []
    for _ in 0..<400 {
      let space = String(repeating: " ", count: Int.random(in: 0..<64, using: &random.generator))
      let text = Array((space + random.text(random.value())).utf8)
      texts += [text, Array(text.prefix(Int.random(in: 0...text.count, using: &random.generator)))]
      for _ in 0..<8 { texts.append(random.generator.mutate(text, alphabet: Self.alphabet)) }
    }
    check(texts)
  }

  @Test("random lists without white space, whole and changed", arguments: [5, 6] as [UInt64])
  func lists(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let values = [
      "0", "10", "-0", "0.5", "-12.5e-3", "1e5", "2E+10", "true", "false", "null", #""""#, #""é\n""#, "[]", "{}", #"{"a":0}"#,
    ]
    var texts: [[UInt8]] = []
    for _ in 0..<400 {
      let list = (0..<Int.random(in: 20..<120, using: &generator)).map { _ in values.randomElement(using: &generator) ?? "" }
      texts.append(Array("[\(list.joined(separator: ","))]".utf8))
      for _ in 0..<4 { texts.append(generator.mutate(texts[texts.count - 1], alphabet: Self.alphabet)) }
    }
    check(texts)
  }

  @Test("an entry is what C writes")
  func layout() {
    #expect(MemoryLayout<JSONTape.Entry>.size == MemoryLayout<CJSON_entry>.size)
    #expect(MemoryLayout<JSONTape.Entry>.alignment == MemoryLayout<CJSON_entry>.alignment)
    #expect(JSONLimits.highestMaximumDepth == Int(CJSON_DEEPEST))
  }

  @Test("a tape is refused if there is no room for its entries")
  func room() {
    let text = Array(#"{"a":[1,2,"b"]}"#.utf8)
    var entries = [CJSON_entry](repeating: CJSON_entry(), count: 6)
    for most in 0...6 {
      let made = unsafe CJSON_record(text, text.count, 9, &entries, most)
      #expect(made == (most < 6 ? -1 : 6))
    }
  }
}
