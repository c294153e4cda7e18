/// Names bytes by what they say.
///
/// Our own, as SHA-256 was all the libraries took of a package that takes minutes to compile: decision record 15. No secret
/// passes through it.
package enum ContentDigest {
  /// The SHA-256 of some bytes.
  package static func sha256(of bytes: Span<UInt8>) -> [UInt8] {
    var hash = SHA256()
    var offset = 0
    while bytes.count - offset >= 64 {
      hash.add(bytes.extracting(offset..<offset + 64))
      offset += 64
    }
    // A one bit, zeros, and the length in bits: one block more, or two.
    let rest = bytes.count - offset
    var last = InlineArray<128, UInt8>(repeating: 0)
    for index in 0..<rest { last[index] = bytes[offset + index] }
    last[rest] = 0x80
    let end = rest < 56 ? 64 : 128
    let bits = UInt64(bytes.count) &* 8
    for index in 0..<8 { last[end - 1 - index] = UInt8(truncatingIfNeeded: bits >> (8 * UInt64(index))) }
    hash.add(last.span.extracting(0..<64))
    if end == 128 { hash.add(last.span.extracting(64..<128)) }
    return (0..<32).map { UInt8(truncatingIfNeeded: hash.state[$0 / 4] >> (24 - 8 * UInt32($0 % 4))) }
  }
}

/// The state of SHA-256 between two blocks, as FIPS 180-4 defines it.
private struct SHA256: ~Copyable {
  private static let constants: InlineArray<64, UInt32> = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]

  private(set) var state: InlineArray<8, UInt32> = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  /// Takes in 64 bytes.
  mutating func add(_ block: Span<UInt8>) {
    var schedule = InlineArray<64, UInt32>(repeating: 0)
    for index in 0..<16 {
      let place = 4 * index
      schedule[index] =
        UInt32(block[place]) << 24 | UInt32(block[place + 1]) << 16 | UInt32(block[place + 2]) << 8 | UInt32(block[place + 3])
    }
    for index in 16..<64 {
      let (early, late) = (schedule[index - 15], schedule[index - 2])
      let sigma0 = Self.rotated(early, 7) ^ Self.rotated(early, 18) ^ early >> 3
      let sigma1 = Self.rotated(late, 17) ^ Self.rotated(late, 19) ^ late >> 10
      schedule[index] = schedule[index - 16] &+ sigma0 &+ schedule[index - 7] &+ sigma1
    }
    let words = Self.constants
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    // Eight rounds a turn, after which each letter stands for the word it stood for before.
    for index in stride(from: 0, to: 64, by: 8) {
      Self.round(a, b, c, &d, e, f, g, &h, words[index] &+ schedule[index])
      Self.round(h, a, b, &c, d, e, f, &g, words[index + 1] &+ schedule[index + 1])
      Self.round(g, h, a, &b, c, d, e, &f, words[index + 2] &+ schedule[index + 2])
      Self.round(f, g, h, &a, b, c, d, &e, words[index + 3] &+ schedule[index + 3])
      Self.round(e, f, g, &h, a, b, c, &d, words[index + 4] &+ schedule[index + 4])
      Self.round(d, e, f, &g, h, a, b, &c, words[index + 5] &+ schedule[index + 5])
      Self.round(c, d, e, &f, g, h, a, &b, words[index + 6] &+ schedule[index + 6])
      Self.round(b, c, d, &e, f, g, h, &a, words[index + 7] &+ schedule[index + 7])
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  @inline(__always) private static func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32,
    _ word: UInt32
  ) {
    h = h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ (e & f ^ ~e & g) &+ word
    d = d &+ h
    h = h &+ (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ (a & b ^ a & c ^ b & c)
  }

  @inline(__always) private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }
}
