public import CarabinerWire

/// Gives objects a key by a function. Two functions are equal if they are copies of one.
///
/// The store calls it for each object of a response that has no key by its key fields, and not for the root of the response.
public final class ObjectKeyFunction: Sendable, Hashable {
  let key: @Sendable (JSONObject) -> String?

  /// A function that returns the whole key of an object, or nil for its path.
  ///
  /// - Parameter key: Gets the object with the names it has in the response, aliases included. It may be called on any thread. The
  ///   type of the object is not added to the key, so objects of two types must not have equal keys.
  public init(_ key: @escaping @Sendable (JSONObject) -> String?) { self.key = key }

  public static func == (left: ObjectKeyFunction, right: ObjectKeyFunction) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
