/// A media type with its parameters, as in a Content-Type header.
public struct MediaType: Sendable, Hashable {
  /// A parameter; its name is in lower case.
  public struct Parameter: Sendable, Hashable {
    /// The name, in lower case.
    public let name: String
    /// The value, without quotes.
    public let value: String
  }

  /// The type and subtype in lower case, such as "application/json".
  public let essence: String
  /// The parameters, in order.
  public let parameters: [Parameter]

  /// Parses a header's value; nil if it has no type and subtype, or a quoted value is not closed.
  ///
  /// A value without quotes ends at the next semicolon, because servers do not quote all characters that RFC 2045 requires to be quoted.
  public init?(_ text: String) {
    var bytes = Substring(text).utf8
    let essence = Self.word(upTo: [UInt8(ascii: ";")], of: &bytes)
    let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }) else { return nil }
    var parameters: [Parameter] = []
    while bytes.popFirst() != nil {
      let name = Self.word(upTo: [UInt8(ascii: ";"), UInt8(ascii: "=")], of: &bytes)
      guard bytes.first == UInt8(ascii: "=") else { continue }
      bytes.removeFirst()
      guard let value = Self.value(&bytes) else { return nil }
      parameters.append(Parameter(name: name.lowercased(), value: value))
    }
    self.essence = essence.lowercased()
    self.parameters = parameters
  }

  /// The first value of a parameter; nil if there is none of this name.
  public func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// Whether a body of this type is JSON: "application/json", or a type that ends with "+json".
  public var isJSON: Bool { essence == "application/json" || essence.hasSuffix("+json") }

  /// Whether a body of this type has parts.
  public var isMultipart: Bool { essence.hasPrefix("multipart/") }

  private static func word(upTo ends: [UInt8], of bytes: inout Substring.UTF8View) -> String {
    let word = bytes.prefix { !ends.contains($0) }
    bytes = bytes[word.endIndex...]
    return String(Substring(word.trimmingBlanks))
  }

  /// The value after an equals sign, up to the next semicolon; nil if its closing quote is missing.
  private static func value(_ bytes: inout Substring.UTF8View) -> String? {
    bytes = bytes.drop(while: \.isBlank)
    guard bytes.first == UInt8(ascii: "\"") else { return word(upTo: [UInt8(ascii: ";")], of: &bytes) }
    bytes.removeFirst()
    var value: [UInt8] = []
    while let byte = bytes.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        // Text between the closing quote and the semicolon makes the value invalid.
        return word(upTo: [UInt8(ascii: ";")], of: &bytes).isEmpty ? String(decoding: value, as: UTF8.self) : nil
      case UInt8(ascii: "\\"):
        guard let escaped = bytes.popFirst() else { return nil }
        value.append(escaped)
      default: value.append(byte)
      }
    }
    return nil
  }
}

extension Substring.UTF8View {
  /// The text without leading and trailing blanks.
  fileprivate var trimmingBlanks: Self {
    var rest = drop(while: \.isBlank)
    while rest.last?.isBlank == true { rest.removeLast() }
    return rest
  }
}

extension UInt8 {
  /// Whether this is a space or a tabulator.
  var isBlank: Bool { self == 0x20 || self == 0x09 }
}
