/// Puts references back where what they stand for would be shown.
///
/// A plugin knows the secrets of its configuration and may repeat one in a message of its own, most likely where it says that
/// the secret is wrong. The host shows that message, so it looks first. A text is read once, however many secrets there are.
package struct SecretRedaction: Sendable, Hashable {
  /// A secret, and what is shown instead.
  struct Pair: Sendable, Hashable {
    let value: [UInt8]
    let reference: String

    init(value: String, reference: String) {
      self.value = Array(value.utf8)
      self.reference = reference
    }
  }

  /// By the first byte of the secret; the longest first, as a secret may be part of another.
  private let pairs: [Pair]
  /// Where the pairs of each first byte begin, and one number more.
  private let starts: [Int]

  /// Nothing is secret.
  package init() { self.init([]) }

  init(_ pairs: [Pair]) {
    self.pairs = Set(pairs.filter { !$0.value.isEmpty }).sorted { first, second in
      (first.value[0], second.value.count, first.reference) < (second.value[0], first.value.count, second.reference)
    }
    var starts: [Int] = []
    if !self.pairs.isEmpty {
      for byte in 0...256 { starts.append(self.pairs.firstIndex { $0.value[0] >= byte } ?? self.pairs.count) }
    }
    self.starts = starts
  }

  /// How many texts it hides.
  package var count: Int { pairs.count }

  /// The same, and one more text that is not to be shown.
  package func hiding(_ value: String, behind reference: String) -> SecretRedaction {
    SecretRedaction(pairs + [Pair(value: value, reference: reference)])
  }

  /// The same, and all that another one hides.
  package func joined(with other: SecretRedaction) -> SecretRedaction { SecretRedaction(pairs + other.pairs) }

  /// The text without secrets.
  package func callAsFunction(_ text: String) -> String {
    guard !pairs.isEmpty else { return text }
    // Bytes, not characters: a secret is the same whatever accent follows it.
    let bytes = Array(text.utf8)
    var shown: [UInt8] = []
    var (kept, place) = (0, 0)
    while place < bytes.count {
      guard let pair = secret(at: place, of: bytes) else {
        place += 1
        continue
      }
      shown += bytes[kept..<place]
      shown += pair.reference.utf8
      place += pair.value.count
      kept = place
    }
    return kept == 0 ? text : String(decoding: shown + bytes[kept...], as: UTF8.self)
  }

  private func secret(at place: Int, of bytes: [UInt8]) -> Pair? {
    let first = Int(bytes[place])
    for index in starts[first]..<starts[first + 1] where bytes[place...].starts(with: pairs[index].value) { return pairs[index] }
    return nil
  }
}
