/// A place in a JSON value (RFC 6901).
public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
  /// Member names and array indices from the root.
  public let components: [String]

  /// Creates a pointer to the root.
  public init() { components = [] }

  /// Creates a pointer from member names and array indices.
  public init(components: some Sequence<String>) { self.components = Array(components) }

  /// Parses a pointer; nil if it is malformed.
  public init?(_ text: String) {
    var components: [String] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
      guard let component = Self.unescaped(part) else { return nil }
      components.append(component)
    }
    guard text.utf8.first == nil || text.utf8.first == UInt8(ascii: "/") else { return nil }
    self.components = components
  }

  /// A member of the value this points to.
  public func appending(_ key: String) -> JSONPointer { JSONPointer(components: components + [key]) }

  /// An element of the value this points to.
  public func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

  /// The pointer as text; empty for the root.
  public var description: String { components.map { "/" + Self.escaped($0) }.joined() }

  // Escaped by scalars, not characters: a slash followed by a combining mark is a different character, but still a slash.
  private static func escaped(_ component: String) -> String {
    component.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "~": text += "~0"
      case "/": text += "~1"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  private static func unescaped(_ part: Substring.UTF8View) -> String? {
    var bytes: [UInt8] = []
    var isEscape = false
    for byte in part {
      if isEscape {
        guard byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") else { return nil }
        bytes.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
        isEscape = false
      } else if byte == UInt8(ascii: "~") {
        isEscape = true
      } else {
        bytes.append(byte)
      }
    }
    return isEscape ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONPointer: ExpressibleByArrayLiteral {
  /// Creates a pointer from member names and array indices.
  public init(arrayLiteral elements: String...) { self.init(components: elements) }
}

extension JSONValue {
  /// The value a pointer points to; nil if there is none.
  public subscript(pointer pointer: JSONPointer) -> JSONValue? {
    var value = self
    for component in pointer.components {
      guard let inner = value[component] ?? Self.index(component).flatMap({ value[$0] }) else { return nil }
      value = inner
    }
    return value
  }

  /// RFC 6901 allows neither signs nor leading zeros in an index.
  private static func index(_ component: String) -> Int? {
    Int(component).flatMap { String($0) == component ? $0 : nil }
  }
}
