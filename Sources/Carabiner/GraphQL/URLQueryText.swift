/// A URL to which query items are appended.
package struct URLQueryText {
  /// The URL with the items appended so far.
  package private(set) var url: String
  private var isFirst: Bool

  /// Creates the URL of an endpoint. Its query is kept unchanged. Its fragment is removed, because it is never sent.
  package init(endpoint: String) {
    var text = String(endpoint.prefix { $0 != "#" })
    if let mark = text.firstIndex(of: "?") {
      let query = text[text.index(after: mark)...]
      isFirst = query.isEmpty || query.last == "&"
    } else {
      text.append("?")
      isFirst = true
    }
    url = text
  }

  /// Appends an item. All bytes of its value with a special meaning in URLs or forms are percent-encoded.
  package mutating func append(_ name: String, _ value: some Sequence<UInt8>) {
    if !isFirst { url.append("&") }
    isFirst = false
    url.append(name)
    url.append("=")
    var text: [UInt8] = []
    for byte in value {
      if byte.isUnreservedInURLs {
        text.append(byte)
      } else {
        text.append(UInt8(ascii: "%"))
        text.append((byte >> 4).upperHexDigit)
        text.append((byte & 15).upperHexDigit)
      }
    }
    url.append(String(decoding: text, as: UTF8.self))
  }
}

extension UInt8 {
  /// Whether the byte is unreserved in RFC 3986.
  fileprivate var isUnreservedInURLs: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  fileprivate var upperHexDigit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") - 10 + self }
}
