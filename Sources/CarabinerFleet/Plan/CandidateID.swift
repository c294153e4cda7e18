internal import CarabinerDigest

/// A manifest of a fleet, by the first 8 bytes of its SHA-256.
package struct CandidateID: Sendable, Hashable, CustomStringConvertible {
  private let number: UInt64

  /// The identity of a manifest.
  ///
  /// - Parameter manifest: The bytes of the manifest, as they were published.
  package init(manifest: [UInt8]) { number = Digest.sha256(manifest).leadingNumber }

  /// Reads 16 hexadecimal digits in lower case.
  package init?(_ text: String) {
    guard text.utf8.count == 16, let number = UInt64(text, radix: 16) else { return nil }
    self.number = number
    // `init(_:radix:)` also takes capitals and a sign.
    guard description == text else { return nil }
  }

  /// 16 hexadecimal digits, as in the names of keys.
  package var description: String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

extension [UInt8] {
  /// The first 8 bytes as a number, big endian; missing bytes are 0.
  var leadingNumber: UInt64 {
    var number: UInt64 = 0
    for index in 0..<8 { number = number << 8 | UInt64(index < count ? self[index] : 0) }
    return number
  }
}
