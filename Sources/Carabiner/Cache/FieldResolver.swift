public import CarabinerWire

/// Finds the objects of fields that no response has contained yet, with a function. Two resolvers are equal if they are the same
/// instance.
public final class FieldResolver: Sendable, Hashable {
  /// A field of an object in the store.
  public struct Field: Sendable, Hashable {
    /// The type of the object that has the field; empty if the store does not know it.
    public let type: String
    /// The field's name.
    public let name: String
    /// The field's arguments with their values.
    public let arguments: JSONObject
  }

  /// The objects a field refers to.
  public enum Objects: Sendable, Hashable {
    /// The object under a key, for example `Book:1`.
    case object(key: String)
    /// A list of objects.
    case list(keys: [String])
  }

  let resolve: @Sendable (Field) -> Objects?

  /// Creates a resolver from a function that returns the objects of a field, or nil to fetch them from the server.
  public init(_ resolve: @escaping @Sendable (Field) -> Objects?) { self.resolve = resolve }

  public static func == (left: FieldResolver, right: FieldResolver) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
