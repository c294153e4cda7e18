internal import Carabiner
internal import CarabinerHTTP1
internal import NIOCore

/// Input that is not a valid request.
struct InvalidRequest: Error {
  let error: HTTP1Error
  /// The Origin field of a head that exceeds the limits. With it, a page of that origin can read the refusal.
  private(set) var headers = Carabiner.HTTPHeaders()

  init(_ error: HTTP1Error) { self.error = error }

  /// - Parameters:
  ///   - head: The bytes of the head that were received before the last read.
  ///   - rest: The bytes of the last read.
  init(_ error: HTTP1Error, head: [UInt8], rest: ByteBufferView) {
    self.error = error
    guard error.code == .headTooLarge else { return }
    for line in (head + rest).split(separator: 0x0A, omittingEmptySubsequences: false).dropFirst() {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      guard String(decoding: line[..<colon], as: UTF8.self).lowercased() == "origin" else { continue }
      let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }.prefix { $0 > 0x20 }
      headers.add(name: "Origin", value: String(decoding: value, as: UTF8.self))
      break
    }
  }
}
