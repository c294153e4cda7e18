extension UInt8 {
  /// Whether a header's name may have this byte in it (`tchar` of RFC 9110).
  @inlinable package var isTokenByte: Bool {
    // A bit for each byte of ASCII: every name of every header of every message is looked at.
    let bits: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : self < 128 ? 0x57FF_FFFF_C7FF_FFFE : 0
    return bits >> (self & 63) & 1 == 1
  }
}
