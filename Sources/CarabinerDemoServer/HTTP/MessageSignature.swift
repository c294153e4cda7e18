internal import Carabiner
internal import CarabinerDigest
internal import CarabinerWire

/// HMAC-SHA256 signatures of requests and responses, compatible with the plugin hmac-sign.
struct MessageSignature: Sendable {
  /// The allowed clock difference between client and server in seconds.
  static let tolerance: Int64 = 300

  private let key: [UInt8]

  init(key: String) { self.key = Array(key.utf8) }

  /// The reason why a request is refused.
  struct RequestRefusal: Error, Hashable {
    let message: String
  }

  /// Verifies a request.
  ///
  /// - Parameters:
  ///   - target: The path with its query string.
  ///   - now: The current time in seconds since 1970.
  func verify(
    method: String, target: String, timestamp: String?, signature: String?, body: [UInt8], now: Int64
  ) throws(RequestRefusal) {
    guard let timestamp, let signature else {
      throw RequestRefusal(message: "the request is not signed: X-Timestamp and X-Signature are needed")
    }
    guard let time = Int64(timestamp), (now - Self.tolerance...now + Self.tolerance).contains(time) else {
      throw RequestRefusal(message: "X-Timestamp is not within \(Self.tolerance) seconds of the server's clock")
    }
    guard let mac = Self.bytes(ofSignature: signature) else {
      throw RequestRefusal(message: "X-Signature is not v1= and 64 hexadecimal digits")
    }
    let text = "\(method)\n\(target)\n\(timestamp)\n\(Digest.sha256(body).hexDigits)\n"
    guard Digest.isEqual(Digest.hmacSHA256(Array(text.utf8), key: key), mac) else {
      throw RequestRefusal(message: "X-Signature is wrong: the request was changed on its way, or signed with another key")
    }
  }

  /// The signature of a response.
  func signature(ofStatus status: Int, body: [UInt8]) -> String {
    "v1=" + Digest.hmacSHA256(Array("\(status)\n".utf8) + body, key: key).hexDigits
  }

  private static func bytes(ofSignature text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 67, digits.starts(with: "v1=".utf8) else { return nil }
    var bytes: [UInt8] = []
    for position in stride(from: 3, to: digits.count, by: 2) {
      guard let high = digit(digits[position]), let low = digit(digits[position + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
