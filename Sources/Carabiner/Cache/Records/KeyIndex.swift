internal import CarabinerWire

/// Finds the places of records by the bytes of their keys, so that no string is needed to look one up.
///
/// A table with linear probing. It stores the hash of each key, so keys are compared only if their hashes are equal.
struct KeyIndex {
  /// A search for the places with one hash.
  struct Probe {
    fileprivate var slot: Int
    fileprivate let hash: UInt32
  }

  private struct Slot {
    /// The place plus one; 0 if the slot is free.
    var place: UInt32 = 0
    var hash: UInt32 = 0
  }

  private var slots = Array(repeating: Slot(), count: 16)
  /// The number of places.
  private(set) var count = 0
  /// Unknown outside of the process, so that no server can choose keys with equal hashes.
  private let seed = UInt64(bitPattern: Int64(Hasher().finalize()))

  private var mask: Int { slots.count &- 1 }

  /// The hash of a key.
  func hash(of key: Span<UInt8>) -> UInt32 {
    var (state, offset) = (seed ^ UInt64(truncatingIfNeeded: key.count), 0)
    while offset &+ 8 <= key.count {
      state = Self.mixed(state ^ key.word(at: offset))
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < key.count {
      rest = rest &<< 8 | UInt64(key[offset])
      offset &+= 1
    }
    return UInt32(truncatingIfNeeded: Self.mixed(state ^ rest))
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }

  /// Begins a search for a hash.
  func probe(_ hash: UInt32) -> Probe { Probe(slot: Int(hash) & mask, hash: hash) }

  /// The next place with the hash of a search; nil if there are no more.
  @inline(__always) func next(_ probe: inout Probe) -> Int? {
    while true {
      let slot = slots[probe.slot]
      // There is always a free slot.
      guard slot.place != 0 else { return nil }
      probe.slot = (probe.slot &+ 1) & mask
      if slot.hash == probe.hash { return Int(slot.place) &- 1 }
    }
  }

  /// Adds a place. Its key must not be in the index.
  mutating func insert(_ place: Int, hash: UInt32) {
    if (count + 1) * 4 > slots.count * 3 { grow() }
    add(Slot(place: UInt32(place + 1), hash: hash))
    count += 1
  }

  private mutating func add(_ slot: Slot) {
    var free = Int(slot.hash) & mask
    while slots[free].place != 0 { free = (free + 1) & mask }
    slots[free] = slot
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(), count: old.count * 2)
    for slot in old where slot.place != 0 { add(slot) }
  }

  /// Removes a place.
  mutating func remove(_ place: Int, hash: UInt32) {
    var hole = Int(hash) & mask
    while slots[hole].place != UInt32(place + 1) {
      if slots[hole].place == 0 { return }
      hole = (hole + 1) & mask
    }
    count -= 1
    // Later slots move into the hole unless that is before the first slot of their hash, so that no search ends early.
    var next = (hole + 1) & mask
    while slots[next].place != 0 {
      let distance = (next - Int(slots[next].hash)) & mask
      if distance >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = Slot()
  }
}

extension String {
  /// Whether this string has these bytes.
  @inline(__always) func hasBytes(_ bytes: Span<UInt8>) -> Bool {
    // A closure, because `utf8Span` is a call that the compiler cannot inline. On Linux each string has such storage.
    unsafe utf8.withContiguousStorageIfAvailable { own in
      guard own.count == bytes.count else { return false }
      for offset in bytes.indices where unsafe own[offset] != bytes[offset] { return false }
      return true
    } ?? false
  }
}
