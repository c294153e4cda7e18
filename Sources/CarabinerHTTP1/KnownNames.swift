/// Finds the numbers of names by their length and the words that their bytes make.
struct KnownNames: Sendable {
  /// A name in lower case as up to three words of eight bytes. The rest of the last one is 0.
  private struct Words: Sendable, Equatable {
    var first: UInt64
    var second: UInt64
    var third: UInt64
  }

  private struct Entry: Sendable {
    let name: FieldName
    let words: Words
    /// The next name of the same length; 0 if there is none.
    let next: UInt8
  }

  static let shared = KnownNames()

  private static let maximumLength = 24

  /// By length: one more than the index of a name, or 0.
  private var first = [UInt8](repeating: 0, count: maximumLength + 1)
  private var entries: [Entry] = []

  private init() {
    for name in FieldName.allCases {
      let length = name.text.utf8CodeUnitCount
      let bytes = (0..<length).map { name.text[$0] }
      entries.append(Entry(name: name, words: Self.words(bytes.span, at: 0..<length), next: first[length]))
      first[length] = UInt8(entries.count)
    }
  }

  /// The number of a name in any case; nil if it has none.
  func name(_ bytes: Span<UInt8>, at range: Range<Int>) -> FieldName? {
    guard range.count <= Self.maximumLength else { return nil }
    var next = first[range.count]
    guard next != 0 else { return nil }
    // The first word excludes most names.
    let first = Self.word(bytes, range.lowerBound, range.count)
    while next != 0 {
      let entry = entries[Int(next &- 1)]
      if entry.words.first == first, range.count <= 8 || entry.words == Self.words(bytes, at: range) { return entry.name }
      next = entry.next
    }
    return nil
  }

  private static func words(_ bytes: Span<UInt8>, at range: Range<Int>) -> Words {
    Words(
      first: word(bytes, range.lowerBound, range.count), second: word(bytes, range.lowerBound &+ 8, range.count &- 8),
      third: word(bytes, range.lowerBound &+ 16, range.count &- 16))
  }

  /// Up to eight bytes of a name, with letters in lower case.
  private static func word(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
    guard count > 0 else { return 0 }
    if count >= 8 || start &+ 8 <= bytes.count {
      let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
      let folded = folded(UInt64(littleEndian: word))
      return count >= 8 ? folded : folded & (1 &<< UInt64(count &* 8) &- 1)
    }
    var word: UInt64 = 0
    for index in 0..<count { word |= UInt64(bytes[start &+ index]) &<< UInt64(index &* 8) }
    return folded(word)
  }

  /// Sets bit 5 of each byte that has bit 6, as all letters have. A carriage return must not become a hyphen.
  private static func folded(_ word: UInt64) -> UInt64 { word | (word & 0x4040_4040_4040_4040) &>> 1 }
}
