/// Random numbers that are equal in every run (SplitMix64), so that a failure can be reproduced.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// Returns true with a probability of one in `odds`.
  public mutating func chance(_ odds: Int) -> Bool { Int.random(in: 0..<odds, using: &self) == 0 }

  /// Changes, removes, adds or duplicates a few bytes.
  public mutating func mutate(_ bytes: [UInt8], alphabet: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<4, using: &self) {
      let place = Int.random(in: 0...bytes.count, using: &self)
      let byte =
        chance(3)
        ? UInt8.random(in: 0...255, using: &self) : alphabet.randomElement(using: &self) ?? 0
      switch Int.random(in: 0..<4, using: &self) {
      case 0 where place < bytes.count: bytes[place] = byte
      case 1 where place < bytes.count: bytes.remove(at: place)
      case 2:
        let end = min(bytes.count, place + Int.random(in: 0..<16, using: &self))
        bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
      default: bytes.insert(byte, at: place)
      }
    }
    return bytes
  }
}
