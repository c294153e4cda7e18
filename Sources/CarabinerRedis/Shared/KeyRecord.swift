/// The record of a mutation's key in Redis.
///
/// A version byte, the state, 32 bytes of the request's fingerprint, and: while it runs, 16 bytes of its run and 13 digits with the time of
/// the lease; at the end the answer.
struct KeyRecord: Hashable, Sendable {
  enum State: Hashable, Sendable {
    /// It runs. The lease is in milliseconds since 1970 by the clock of Redis.
    case running(run: [UInt8], lease: Int64)
    /// It ended with this answer.
    case answered([UInt8])
    /// It was sent, and its end is not known or cannot be repeated.
    case unknown
  }

  static let version: UInt8 = 0x31
  static let fingerprintBytes = 32
  static let runBytes = 16
  private static let digits = 13

  let fingerprint: [UInt8]
  let state: State

  init(fingerprint: [UInt8], _ state: State) { (self.fingerprint, self.state) = (fingerprint, state) }

  /// Reads a record; nil if it is malformed or of another version.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 2 + Self.fingerprintBytes, bytes.first == Self.version else { return nil }
    fingerprint = Array(bytes.dropFirst(2).prefix(Self.fingerprintBytes))
    let rest = bytes.dropFirst(2 + Self.fingerprintBytes)
    switch bytes[bytes.startIndex + 1] {
    case UInt8(ascii: "r"):
      let lease = String(decoding: rest.dropFirst(Self.runBytes), as: UTF8.self)
      guard lease.utf8.count == Self.digits, lease.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int64(lease) else {
        return nil
      }
      state = .running(run: Array(rest.prefix(Self.runBytes)), lease: time)
    case UInt8(ascii: "a"): state = .answered(Array(rest))
    case UInt8(ascii: "u"): state = .unknown
    default: return nil
    }
  }

  var bytes: [UInt8] {
    switch state {
    case .running(let run, let lease):
      let number = Array(String(max(0, lease)).utf8).suffix(Self.digits)
      return begin("r") + run + [UInt8](repeating: 0x30, count: Self.digits - number.count) + number
    case .answered(let answer): return begin("a") + answer
    case .unknown: return begin("u")
    }
  }

  private func begin(_ state: Unicode.Scalar) -> [UInt8] { [Self.version, UInt8(ascii: state)] + fingerprint }
}
