internal import CarabinerBridge

/// Finds secrets in bytes, also reversed, with each byte changed by the same number, or in base64 or hexadecimal
/// digits.
///
/// Eight bytes in a row are enough, so a truncated secret is found too. As secrets are random, other texts do not contain them.
struct SecretSearch {
  /// The forms in which bytes are compared.
  private enum View: CaseIterable {
    /// The bytes themselves, without regard to case.
    case plain
    /// The XOR of each byte with the next, which does not change if all are XORed with one number.
    case exclusiveOr
    /// The difference of each byte and the next, which does not change if one number is added to all.
    case difference

    func callAsFunction(_ bytes: [UInt8]) -> [UInt8] {
      switch self {
      case .plain: bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
      case .exclusiveOr: zip(bytes, bytes.dropFirst()).map { $0 ^ $1 }
      case .difference: zip(bytes, bytes.dropFirst()).map { $1 &- $0 }
      }
    }
  }

  private static let window = 8
  /// For each form, the name of the secret by each sequence of eight bytes in it.
  private var known: [[UInt64: String]] = View.allCases.map { _ in [:] }

  /// Adds a secret under a name.
  mutating func add(_ name: String, _ secret: String) {
    let bytes = Array(secret.utf8)
    for (index, view) in View.allCases.enumerated() {
      let change = view == .plain ? "" : ", with each byte changed by the same number"
      for (words, order) in [(view(bytes), ""), (view(bytes.reversed()), ", written backwards")] {
        Self.windows(words) { number in
          known[index][number] = known[index][number] ?? "\(name)\(order)\(change)"
          return false
        }
      }
    }
  }

  /// The secret in these bytes and its form; nil if there is none.
  func find(in bytes: [UInt8]) -> String? {
    if let found = look(bytes) { return found }
    for run in Self.runs(of: bytes, longerThan: 2 * Self.window, where: { Self.hexadecimal($0) != nil }) {
      for start in 0...1 {
        if let found = look(Self.decoded(run.dropFirst(start), 4, Self.hexadecimal)) { return "\(found), in hexadecimal digits" }
      }
    }
    for run in Self.runs(of: bytes, longerThan: 12, where: { Self.base64($0) != nil }) {
      for start in 0...3 {
        if let found = look(Self.decoded(run.dropFirst(start), 6, Self.base64)) { return "\(found), in base64" }
      }
    }
    return nil
  }

  /// The names of all secrets that are in these bytes as they are.
  func findAll(in bytes: [UInt8]) -> Set<String> {
    var found: Set<String> = []
    Self.windows(View.plain(bytes)) { number in
      if let name = known[0][number] { found.insert(name) }
      return false
    }
    return found
  }

  /// The secret in texts that each have a piece of it, or in one text with other characters between its letters; nil if there is none.
  func find(inPieces texts: [[UInt8]]) -> String? {
    for text in texts {
      for step in 2...4 {
        for start in 0..<step {
          let letters = stride(from: start, to: text.count, by: step).map { text[$0] }
          if let found = look(letters) { return "\(found), with other characters between its letters" }
        }
      }
      if let found = look(text.filter(Self.isLetter)) { return "\(found), with other characters between its letters" }
    }
    for length in 1...7 {
      for ends in [texts.map { $0.suffix(length) }, texts.map { $0.prefix(length) }] {
        if let found = look(ends.flatMap { Array($0) }) { return "\(found), in pieces" }
      }
    }
    return nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool { base64(byte).map { $0 < 62 } ?? false }

  private func look(_ bytes: [UInt8]) -> String? {
    var found: String?
    for (index, view) in View.allCases.enumerated() where found == nil {
      Self.windows(view(bytes)) { number in
        found = known[index][number]
        return found != nil
      }
    }
    return found
  }

  /// Calls `body` with each eight bytes in a row, until it returns true.
  private static func windows(_ bytes: [UInt8], _ body: (UInt64) -> Bool) {
    var number: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      number = number << 8 | UInt64(byte)
      if index >= window - 1, body(number) { return }
    }
  }

  // MARK: Digits

  private static func runs(of bytes: [UInt8], longerThan least: Int, where belongs: (UInt8) -> Bool) -> [ArraySlice<UInt8>] {
    bytes.split { !belongs($0) }.filter { $0.count >= least }
  }

  /// The bytes of digits with this number of bits each.
  private static func decoded(_ digits: ArraySlice<UInt8>, _ bits: Int, _ value: (UInt8) -> UInt32?) -> [UInt8] {
    var bytes: [UInt8] = []
    var (pending, count) = (UInt32(0), 0)
    for digit in digits {
      pending = (pending << UInt32(bits) | (value(digit) ?? 0)) & 0xFFFF
      count += bits
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(count)))
      }
    }
    return bytes
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte) - 0x30
    case 0x41...0x46: UInt32(byte) - 0x41 + 10
    case 0x61...0x66: UInt32(byte) - 0x61 + 10
    default: nil
    }
  }

  /// The value of a digit of either base64 alphabet.
  private static func base64(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x41...0x5A: UInt32(byte) - 0x41
    case 0x61...0x7A: UInt32(byte) - 0x61 + 26
    case 0x30...0x39: UInt32(byte) - 0x30 + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
