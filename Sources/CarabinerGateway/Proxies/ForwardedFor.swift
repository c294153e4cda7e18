internal import CarabinerWire

/// The field `X-Forwarded-For`: each proxy appends the address that connected to it.
enum ForwardedFor {
  static let field = "X-Forwarded-For"

  /// The client behind trusted proxies: the rightmost address that is not a trusted proxy, or else the leftmost one.
  ///
  /// An element that is not an address ends the search, because only its writer knows its meaning.
  ///
  /// - Parameter values: The values of the field, in order.
  /// - Returns: Nil if the rightmost element is not an address, or there is none.
  static func client(_ values: [String], isTrusted: (IPAddress) -> Bool) -> String? {
    var last: IPAddress?
    for value in values.reversed() {
      for element in value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
        guard let address = address(element) else { return last?.description }
        last = address
        guard isTrusted(address) else { return address.description }
      }
    }
    return last?.description
  }

  /// The address of an element: alone, or with a port as `192.0.2.1:80` and `[2001:db8::1]:80`.
  private static func address(_ element: Substring) -> IPAddress? {
    var text = element
    while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
    while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
    if let address = IPAddress(text) { return address }
    guard let colon = text.lastIndex(of: ":"), UInt16(text[text.index(after: colon)...]) != nil else {
      return text.hasPrefix("[") && text.hasSuffix("]") ? IPAddress(text.dropFirst().dropLast()) : nil
    }
    let host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { return IPAddress(host.dropFirst().dropLast()) }
    return host.contains(":") ? nil : IPAddress(host)
  }
}
