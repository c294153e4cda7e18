/// The query of a unary Connect call by GET.
package enum ConnectQuery {
  /// The query for a message, in the order of the protocol.
  ///
  /// - Parameters:
  ///   - existing: The query of the URL; nil or empty for none.
  ///   - compression: The name of the message's compression; nil for none.
  package static func text(
    behind existing: String?, codec: String, compression: String?, message: some Collection<UInt8>
  ) -> String {
    var items = existing.map { $0.isEmpty ? [] : [$0] } ?? []
    items += ["connect=v1", "base64=1"]
    if let compression { items.append("compression=\(escaped(compression))") }
    items.append("encoding=\(escaped(codec))")
    items.append("message=\(Base64.urlEncoded(message))")
    return items.joined(separator: "&")
  }

  private static func escaped(_ name: String) -> String {
    name.utf8.reduce(into: "") { text, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
  }
}
