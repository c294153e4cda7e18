extension UInt8 {
  /// Whether a header's name may contain this byte (`tchar` of RFC 9110).
  @inlinable package var isTokenByte: Bool {
    // One bit per ASCII byte: this is called for every byte of every header name, so it must be fast.
    let bits: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : self < 128 ? 0x57FF_FFFF_C7FF_FFFE : 0
    return bits >> (self & 63) & 1 == 1
  }
}
