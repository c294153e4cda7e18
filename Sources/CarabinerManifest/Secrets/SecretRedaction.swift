/// Replaces secrets in texts by their references.
///
/// A plugin knows the secrets of its configuration and may repeat one in a message, for example in an error about the secret. The host
/// redacts such messages before it shows them. A text is scanned once, whatever the number of secrets.
package struct SecretRedaction: Sendable, Hashable {
  /// A secret and its replacement.
  struct Pair: Sendable, Hashable {
    let value: [UInt8]
    let reference: String

    init(value: String, reference: String) {
      self.value = Array(value.utf8)
      self.reference = reference
    }
  }

  /// Sorted by the first byte of the secret, then the longest first, because a secret may be part of another.
  private let pairs: [Pair]
  /// The index of the first pair for each first byte, and the number of pairs as the last element.
  private let starts: [Int]

  /// A redaction without secrets.
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

  /// The number of secrets.
  package var count: Int { pairs.count }

  /// A redaction that also hides `value`.
  package func hiding(_ value: String, behind reference: String) -> SecretRedaction {
    SecretRedaction(pairs + [Pair(value: value, reference: reference)])
  }

  /// A redaction that hides the secrets of both.
  package func joined(with other: SecretRedaction) -> SecretRedaction { SecretRedaction(pairs + other.pairs) }

  /// The text without secrets.
  package func callAsFunction(_ text: String) -> String {
    guard !pairs.isEmpty else { return text }
    // Bytes, not characters: a secret must also be found before a combining mark.
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
