/// A place in a JSON value (RFC 6901).
public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
  /// Member names and array indices from the root.
  public let components: [String]

  /// The root.
  public init() { components = [] }

  private init(components: [String]) { self.components = components }

  /// A member of the value this points to.
  public func appending(_ key: String) -> JSONPointer { JSONPointer(components: components + [key]) }

  /// An element of the value this points to.
  public func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

  /// Reads a pointer; nil if it is malformed.
  public init?(_ text: String) {
    guard text.isEmpty || text.hasPrefix("/") else { return nil }
    components = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
      Self.replacing("~0", by: "~", in: Self.replacing("~1", by: "/", in: String($0)))
    }
  }

  /// The pointer as text; empty for the root.
  public var description: String {
    components.map { "/" + Self.replacing("/", by: "~1", in: Self.replacing("~", by: "~0", in: $0)) }.joined()
  }

  private static func replacing(_ pattern: String, by text: String, in string: String) -> String {
    string.split(separator: pattern, omittingEmptySubsequences: false).joined(separator: text)
  }
}

extension JSONValue {
  /// The value a pointer points to; nil if there is none.
  public subscript(pointer: JSONPointer) -> JSONValue? {
    var value = self
    for component in pointer.components {
      guard let inner = value[component] ?? Int(component).flatMap({ value[$0] }) else { return nil }
      value = inner
    }
    return value
  }
}
