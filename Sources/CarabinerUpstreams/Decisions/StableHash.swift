/// A hash that is the same in each process, unlike `Hasher`, so that all nodes of a fleet choose the same endpoint for a key.
enum StableHash {
  /// The hash of a text (FNV-1a, then mixed).
  static func of(_ text: some StringProtocol) -> UInt64 {
    mixed(text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
  }

  /// Spreads a number over all bits (the last step of SplitMix64).
  static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
