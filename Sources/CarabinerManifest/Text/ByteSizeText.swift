/// Sizes in the notation of manifests: `512B`, `256KiB`, `64MiB`, `1.5GiB`, or a plain number of bytes.
package enum ByteSizeText {
  /// The largest size of a manifest, 1 TiB.
  package static let maximum = 1 << 40

  private static let units: [(name: String, bytes: Int64)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1),
  ]

  /// Reads a size.
  ///
  /// - Throws: ``MalformedQuantity`` with the notation to use.
  package static func parse(_ text: String) throws(MalformedQuantity) -> Int {
    guard let quantity = Quantity(text) else {
      throw MalformedQuantity(description: "\(text.debugDescription) is not a size; write 512, 256KiB or 64MiB")
    }
    guard let unit = units.first(where: { $0.name == quantity.unit }) else {
      throw MalformedQuantity(
        description: "\(String(quantity.unit).debugDescription) is not a unit of size; use B, KiB, MiB or GiB (powers of 1024)")
    }
    guard let bytes = quantity.times(unit.bytes), bytes <= maximum else {
      throw MalformedQuantity(description: "\(text) is not a whole number of bytes, or is more than 1024GiB")
    }
    return Int(bytes)
  }

  /// Writes a size in the largest unit that gives a whole number.
  package static func print(_ bytes: Int) -> String {
    let unit = units.first { $0.name != "" && bytes != 0 && Int64(bytes) % $0.bytes == 0 }
    return unit.map { "\(Int64(bytes) / $0.bytes)\($0.name)" } ?? "0B"
  }
}
