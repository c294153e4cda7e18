internal import CNghttp2
internal import Carabiner
internal import CarabinerHTTP1
internal import CarabinerWire
internal import NIOHTTP1

/// The fields of a response in the form that nghttp2 takes.
enum ReplyBlock {
  private static let statusDigits = 3
  /// The number of digits of the largest Int.
  private static let maximumDigits = 19

  /// Calls `body` with the status and the fields of a head.
  ///
  /// - Parameter body: Must copy the fields.
  /// - Returns: False if the name of a field is not a token, or its value has a CR, LF or NUL.
  @unsafe static func withFields(
    of head: ReplyHead, _ body: (_ fields: UnsafePointer<nghttp2_nv>?, _ count: Int) -> Bool
  ) -> Bool {
    let fields = head.fields.list
    return unsafe fields.bytes.withUnsafeBufferPointer { bytes in
      unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count + 2) { block in
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: statusDigits + maximumDigits) { digits in
          unsafe write(Int(head.status.code), to: digits, at: 0..<statusDigits)
          unsafe block[0] = nghttp2_nv(":status", UnsafeMutableBufferPointer(rebasing: digits[..<statusDigits]))
          var count = 1
          let all = unsafe bytes.span
          for index in 0..<fields.count {
            let (name, value) = (fields.nameRange(at: index), fields.valueRange(at: index))
            guard !isAboutConnection(all.extracting(name)) else { continue }
            guard all.extracting(name).isToken, all.extracting(value).isFieldValue else { return false }
            unsafe block[count] = nghttp2_nv(
              UnsafeBufferPointer(rebasing: bytes[name]), UnsafeBufferPointer(rebasing: bytes[value]))
            count += 1
          }
          if case .length(let length) = head.framing {
            let end = unsafe statusDigits + write(length, to: digits, from: statusDigits)
            unsafe block[count] = nghttp2_nv("content-length", UnsafeMutableBufferPointer(rebasing: digits[statusDigits..<end]))
            count += 1
          }
          return unsafe body(block.baseAddress, count)
        }
      }
    }
  }

  /// Whether a field is about the connection or frames the body, and HTTP/2 does not have it (RFC 9113, 8.2.2).
  private static func isAboutConnection(_ name: Span<UInt8>) -> Bool {
    switch name.count {
    case 7: name.isEqualIgnoringCase("upgrade".utf8Span.span)
    case 10: name.isEqualIgnoringCase("connection".utf8Span.span) || name.isEqualIgnoringCase("keep-alive".utf8Span.span)
    case 14: name.isEqualIgnoringCase("content-length".utf8Span.span)
    case 16: name.isEqualIgnoringCase("proxy-connection".utf8Span.span)
    case 17: name.isEqualIgnoringCase("transfer-encoding".utf8Span.span)
    default: false
    }
  }

  /// Writes the last digits of a number.
  private static func write(_ number: Int, to digits: UnsafeMutableBufferPointer<UInt8>, at place: Range<Int>) {
    var rest = number
    for index in place.reversed() {
      unsafe digits[index] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
  }

  /// Writes all digits of a number. Returns how many there are.
  private static func write(_ number: Int, to digits: UnsafeMutableBufferPointer<UInt8>, from start: Int) -> Int {
    var (count, rest) = (1, number / 10)
    while rest > 0 {
      count += 1
      rest /= 10
    }
    unsafe write(number, to: digits, at: start..<(start + count))
    return count
  }
}

extension nghttp2_nv {
  /// - Parameter value: Digits.
  fileprivate init(_ name: StaticString, _ value: UnsafeMutableBufferPointer<UInt8>) {
    unsafe self.init(
      UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), UnsafeBufferPointer(value))
  }

  fileprivate init(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    // nghttp2 copies both, and changes only its copy of the name, to lower case.
    unsafe self.init(
      name: UnsafeMutablePointer(mutating: name.baseAddress), value: UnsafeMutablePointer(mutating: value.baseAddress),
      namelen: name.count, valuelen: value.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
  }
}
