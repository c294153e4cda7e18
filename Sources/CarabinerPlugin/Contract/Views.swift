internal import CCarabiner

extension crb_view {
  var pointer: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: ptr, count: ptr == nil ? 0 : len) }
  var array: [UInt8] { unsafe Array(pointer) }
  var text: String { unsafe String(decoding: pointer, as: UTF8.self) }
  var presentText: String? { unsafe ptr == nil ? nil : text }

  func isSameHeaderName(as name: String) -> Bool {
    func lower(_ byte: UInt8) -> UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte }
    return unsafe len == name.utf8.count && zip(pointer, name.utf8).allSatisfy { lower($0) == lower($1) }
  }
}

/// The address used for empty texts. An empty text is present, so its pointer must not be NULL.
@safe private struct Somewhere: @unchecked Sendable {
  // Safe: the byte is never read or written.

  let pointer = unsafe UnsafePointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
}
private let somewhere = Somewhere()

extension String {
  /// Passes a view of the text to `body`. It is valid only during the call.
  func withView<Value>(_ body: (crb_view) throws -> Value) rethrows -> Value {
    var text = self
    return try text.withUTF8 { try unsafe body(crb_view(ptr: $0.baseAddress ?? somewhere.pointer, len: $0.count)) }
  }
}

extension Array where Element == UInt8 {
  /// Passes a view of the bytes to `body`. It is valid only during the call.
  func withView<Value>(_ body: (crb_view) throws -> Value) rethrows -> Value {
    unsafe try withUnsafeBufferPointer { try unsafe body(crb_view(ptr: $0.baseAddress ?? somewhere.pointer, len: $0.count)) }
  }
}

/// Header fields in the layout of the C interface.
struct HeaderBlock {
  private var bytes: [UInt8] = []
  private var lengths: [(name: Int, value: Int)] = []

  init(_ headers: [(name: String, value: String)]) {
    for field in headers {
      bytes.append(contentsOf: field.name.utf8)
      bytes.append(contentsOf: field.value.utf8)
      lengths.append((field.name.utf8.count, field.value.utf8.count))
    }
  }

  /// Passes the fields to `body`. They are valid only during the call.
  func with<Value>(_ body: (UnsafeBufferPointer<crb_header>) -> Value) -> Value {
    unsafe bytes.withView { all in
      var fields: [crb_header] = unsafe []
      var offset = 0
      for (name, value) in lengths {
        unsafe fields.append(
          crb_header(
            name: crb_view(ptr: all.ptr.map { unsafe $0 + offset }, len: name),
            value: crb_view(ptr: all.ptr.map { unsafe $0 + offset + name }, len: value),
            flags: 0, reserved: 0))
        offset += name + value
      }
      return unsafe fields.withUnsafeBufferPointer { unsafe body($0) }
    }
  }
}

extension Duration {
  /// The duration in nanoseconds, limited to the range of the type.
  var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000)).partialValue
  }
}
