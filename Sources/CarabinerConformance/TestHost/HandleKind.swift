/// The kind of a handle of the test host.
///
/// A handle has a place and a generation, like those of a host, so a plugin cannot recognize the harness. Each kind has its own
/// generation, so a handle of another kind is stale.
enum HandleKind: UInt64 {
  case call = 1
  case token = 2
  case buffer = 3

  /// The nth handle, from 1.
  func handle(_ number: UInt64) -> UInt64 { number << 32 | rawValue }

  /// The nth number of a library or an instance. It looks unrelated to the previous number.
  static func member(_ number: UInt64) -> UInt64 {
    // The last step of SplitMix64. It is a bijection and maps only 0 to 0.
    var mixed = number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
