import CarabinerWire
import Testing

@Suite("Names and values of headers")
struct FieldTextTests {
  // A span is not a type that the macro of an expectation can hold.

  private func isToken(_ bytes: [UInt8]) -> Bool { bytes.span.isToken }

  private func isVisible(_ bytes: [UInt8]) -> Bool { bytes.span.isVisibleASCII }

  private func isPlainValue(_ bytes: [UInt8]) -> Bool { bytes.span.isPlainValue }

  @Test("a token has only bytes of tokens, wherever another one is", arguments: 1...25)
  func tokens(count: Int) {
    let token = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    #expect(isToken(token))
    for place in 0..<count {
      for byte in UInt8.min...UInt8.max {
        var bytes = token
        bytes[place] = byte
        #expect(isToken(bytes) == byte.isTokenByte, "\(byte) at \(place) of \(count)")
      }
    }
  }

  @Test("visible text has no control character and no byte that is not ASCII, wherever it is", arguments: 0...17)
  func visible(count: Int) {
    let text = (0..<count).map { UInt8(0x20 + $0 * 94 / 17) }
    #expect(isVisible(text))
    for place in 0..<count {
      for byte in UInt8.min...UInt8.max {
        var bytes = text
        bytes[place] = byte
        #expect(isVisible(bytes) == (0x20...0x7E).contains(byte), "\(byte) at \(place) of \(count)")
      }
    }
    // Sums of bytes that are not ASCII carry over into the next byte.
    #expect(!isVisible(text + [0xFF, 0x1F]) && !isVisible([0xFF, 0x20] + text))
  }

  @Test("empty text is not a token")
  func empty() { #expect(!isToken([])) }

  @Test("names are compared without the case of letters, and only of letters")
  func cases() {
    func areEqual(_ left: String, _ right: String) -> Bool { left.utf8Span.span.isEqualIgnoringCase(right.utf8Span.span) }
    #expect(areEqual("Content-Type", "content-tYPE") && areEqual("", ""))
    // Pairs that differ in the bit of the case, and are not letters.
    for (left, right) in [("\r", "-"), ("@", "`"), ("[", "{"), ("\u{0}", " "), ("a", "ab"), ("ab", "a"), ("a", "b")] {
      #expect(!areEqual(left, right), "\(left.debugDescription) \(right.debugDescription)")
    }
    func begins(_ text: String, with prefix: String) -> Bool {
      text.utf8Span.span.hasPrefixIgnoringCase(prefix.utf8Span.span)
    }
    #expect(begins("X-Stage", with: "x-") && !begins("X", with: "x-") && !begins("Xy", with: "x-"))
  }

  @Test("a value may have tabs and bytes above 127, and no other control characters", arguments: 1...20)
  func values(count: Int) {
    for place in 0..<count {
      for byte in UInt8.min...UInt8.max {
        var bytes = [UInt8](repeating: UInt8(ascii: "v"), count: count)
        bytes[place] = byte
        #expect(isPlainValue(bytes) == (byte == 9 || byte >= 0x20 && byte != 0x7F), "\(byte) at \(place) of \(count)")
      }
    }
  }
}
