public import CCarabiner

extension crb_view {
  public static var absent: crb_view { unsafe crb_view(ptr: nil, len: 0) }

  /// The bytes; none of a view whose length is none: a `size_t` beyond half its range arrives here below zero.
  public var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: ptr, count: ptr == nil ? 0 : max(len, 0)) }

  public var isAbsent: Bool { unsafe ptr == nil }

  /// The text, malformed UTF-8 replaced.
  public var text: String { unsafe String(decoding: bytes, as: UTF8.self) }
}
