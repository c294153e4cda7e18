public import CarabinerWire

/// A deferred fragment that a result from the cache lacks.
public struct PendingFragment: Sendable, Hashable {
  /// The label of its `@defer`; nil if it has none.
  public let label: String?
  /// The path of its object in the data: names, and indices of lists from 0 on.
  public let path: [JSONValue]

  /// A fragment of the object at `path`.
  public init(label: String?, path: [JSONValue]) {
    self.label = label
    self.path = path
  }
}
