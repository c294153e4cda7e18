public import CCarabiner

extension crb_view {
  public static var absent: crb_view { unsafe crb_view(ptr: nil, len: 0) }

  /// The bytes; empty if the pointer is NULL or the length is not valid. A `size_t` above Int.max arrives as a negative number.
  public var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: ptr, count: ptr == nil ? 0 : max(len, 0)) }

  public var isAbsent: Bool { unsafe ptr == nil }

  /// The text. Invalid UTF-8 is replaced.
  public var text: String { unsafe String(decoding: bytes, as: UTF8.self) }

  /// The text, cut to so many bytes before it is copied.
  public func text(atMost limit: Int) -> String {
    unsafe bytes.count <= limit ? text : String(decoding: bytes.prefix(limit), as: UTF8.self) + "…"
  }
}
