/// Small values that travel with a request: to interceptors in Swift as a task-local value, and to plugins, which may change them.
public struct Baggage: Sendable, Hashable {
  /// A value plugins in every language can read.
  public enum Value: Sendable, Hashable {
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
    /// JSON text, unchecked.
    case json(String)
  }

  /// The baggage of the current scope.
  @TaskLocal public static var current = Baggage()

  private var values: [String: Value] = [:]

  /// No baggage.
  public init() {}

  /// A value by its dotted name.
  public subscript(name: String) -> Value? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// Whether there is nothing in it.
  public var isEmpty: Bool { values.isEmpty }

  /// This baggage with the values of another. They replace values with the same name.
  public func merging(_ other: Baggage) -> Baggage {
    var merged = self
    merged.values.merge(other.values) { $1 }
    return merged
  }
}
