/// A range of addresses in CIDR notation, such as `10.0.0.0/8` or `2001:db8::/32`.
package struct IPNetwork: Sendable, Hashable {
  /// The problem with a text.
  package enum Fault: Error, Sendable, Hashable {
    case malformed
    /// The address has bits after the prefix.
    case hostBits(network: IPNetwork)
  }

  private let address: IPAddress
  /// The length of the prefix of the IPv6 form.
  private let length: Int

  private init(_ address: IPAddress, length: Int) {
    let (high, low) = Self.mask(length)
    self.address = IPAddress(high: address.high & high, low: address.low & low)
    self.length = length
  }

  /// Reads an address and the length of its prefix. An address alone is the range of this address.
  package init(_ text: String) throws(Fault) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let address = IPAddress(parts[0]) else { throw .malformed }
    // The notation decides, because an IPv4 address may be written in the form of an IPv6 one.
    let bits = parts[0].contains(":") ? 128 : 32
    var length = bits
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(parts[1]), number <= bits
      else { throw .malformed }
      length = number
    }
    let network = IPNetwork(address, length: length + 128 - bits)
    guard network.address == address else { throw .hostBits(network: network) }
    self = network
  }

  package func contains(_ other: IPAddress) -> Bool {
    let (high, low) = Self.mask(length)
    return other.high & high == address.high && other.low & low == address.low
  }

  private static func mask(_ length: Int) -> (high: UInt64, low: UInt64) {
    func half(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits)) }
    return (half(length), half(length - 64))
  }
}

extension IPNetwork: CustomStringConvertible {
  package var description: String {
    address.isV4 && length >= 96 ? "\(address)/\(length - 96)" : "\(address)/\(length)"
  }
}
