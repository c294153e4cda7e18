internal import CarabinerBridge

/// The words in a plugin's own texts. They are the names of headers and members that the plugin looks for, so exchanges that contain
/// them reach more of its code.
struct Vocabulary: Sendable {
  /// Names of headers and JSON members.
  let names: [String]
  /// Longer texts, such as the beginning of a URL.
  let phrases: [String]

  /// A field for each name of a header, with this value. The content type decides what a message is, so it stays.
  func fields(_ value: String) -> [HeaderSample] {
    names.filter { $0.lowercased() != "content-type" }.map { HeaderSample(name: $0, value: value) }
  }

  /// Texts such as `text/csv`.
  var mediaTypes: [String] {
    phrases.filter { text in
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      return parts.count == 2
        && parts.allSatisfy { $0.count > 1 && $0.allSatisfy { $0.isASCII && !$0.isWhitespace && $0 != "\"" } }
    }
  }

  private static let maximumNames = 64
  private static let maximumPhrases = 32
  private static let lengths = 3...40
  /// Names that plugins may look for and that cannot be read from their files. Strings of Rust are not terminated, and short
  /// strings of C++ are parts of instructions.
  private static let usualNames = [
    "id", "email", "name", "token", "price", "Authorization", "X-Tenant", "X-User", "X-User-Id", "X-Request-Id", "X-Api-Key",
    "X-CSRF-Token", "Accept-Language", "traceparent",
  ]

  /// Reads the texts in the constants of a plugin's file.
  init(_ bytes: [UInt8]) {
    var names = Self.usualNames
    var phrases = ["http://", "https://example.org/a", "\r\n", "é\u{1F600}"]
    let constants = (try? SharedObject(bytes)).map { object in object.constants.map { bytes[$0] } } ?? []
    for text in Self.texts(constants) {
      let name = text.drop { $0 == "\"" }.prefix { $0 != "\"" && $0 != ":" && $0 != "=" }
      if Self.isName(name), !names.contains(String(name)) { names.append(String(name)) }
      if !text.contains("%"), !phrases.contains(text) { phrases.append(text) }
    }
    for name in Self.joinedNames(constants) where !names.contains(name) { names.append(name) }
    self.names = Array(names.prefix(Self.maximumNames))
    self.phrases = Array(phrases.prefix(Self.maximumPhrases))
  }

  /// Names of headers in constants that follow each other without terminators, as in `X-TenantRateLimit-Reset`.
  ///
  /// A name may begin at each capital letter after a small letter or after the end of another text. So some results are not names.
  private static func joinedNames(_ constants: [ArraySlice<UInt8>]) -> [String] {
    var found: [String] = []
    for bytes in constants {
      for run in bytes.split(whereSeparator: { !($0.isASCIILetter || $0 == UInt8(ascii: "-")) }) {
        let places = run.indices.filter {
          run[$0].isASCIICapital && ($0 == run.startIndex || !run[$0 - 1].isASCIICapital && run[$0 - 1] != UInt8(ascii: "-"))
        }
        for (index, place) in places.enumerated() {
          for end in (Array(places[(index + 1)...].prefix(3)) + [run.endIndex]).prefix(4) where lengths.contains(end - place) {
            let name = String(decoding: run[place..<end], as: UTF8.self)
            if name.contains("-"), !name.hasSuffix("-"), !found.contains(name) { found.append(name) }
            if found.count == maximumNames { return found }
          }
        }
      }
    }
    return found
  }

  private static func isName(_ text: Substring) -> Bool {
    guard let first = text.first, first.isLetter, text.count > 1 else { return false }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
  }

  /// Printable texts between NUL bytes, in mapped memory that is neither code nor the names of symbols.
  private static func texts(_ constants: [ArraySlice<UInt8>]) -> [String] {
    var found: [String] = []
    for bytes in constants {
      for piece in bytes.split(separator: 0) where lengths.contains(piece.count) {
        // Text after other data begins after its last byte that is not printable.
        let text = piece.suffix(from: piece.lastIndex { !(0x20...0x7E).contains($0) }.map { $0 + 1 } ?? piece.startIndex)
        if lengths.contains(text.count) { found.append(String(decoding: text, as: UTF8.self)) }
      }
    }
    return found
  }
}

extension UInt8 {
  fileprivate var isASCIICapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
  fileprivate var isASCIILetter: Bool { isASCIICapital || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
