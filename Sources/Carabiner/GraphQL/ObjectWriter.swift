public import CarabinerWire

/// Collects the members of an object that a ``SelectionSet``, an ``InputObject`` or a ``GeneratedOperation`` writes.
///
/// Parts of a selection set may write the same member. Objects in it are then merged.
public struct ObjectWriter {
  /// The members so far.
  public private(set) var object = JSONObject()

  /// Creates a writer without members.
  public init() {}

  init(_ object: JSONObject) { self.object = object }

  /// Writes a member. A value that is not given is null.
  public mutating func write(_ name: String, _ value: some GraphQLValue) { set(name, Self.json(of: value) ?? .null) }

  /// Writes a member if its value is given.
  public mutating func writeIfGiven(_ name: String, _ value: some GraphQLValue) {
    if let json = Self.json(of: value) { set(name, json) }
  }

  /// Writes a member whose type in Swift differs from its JSON form. A value that is not given is null.
  public mutating func write<Coding: ScalarCoding>(_ name: String, _ value: Coding.Value, as coding: Coding.Type) {
    write(name, Coding.coded(value))
  }

  /// Writes a member whose type in Swift differs from its JSON form, if its value is given.
  public mutating func writeIfGiven<Coding: ScalarCoding>(_ name: String, _ value: Coding.Value, as coding: Coding.Type) {
    writeIfGiven(name, Coding.coded(value))
  }

  /// Writes the members of a part of the same object; none if it is nil.
  public mutating func write(_ part: (some SelectionSet)?) { part?.write(to: &self) }

  private static func json<Value: GraphQLValue>(of value: Value) -> JSONValue? { Value.json(of: value) }

  mutating func set(_ name: String, _ value: JSONValue) {
    object[name] = object[name].map { Self.merged($0, value) } ?? value
  }

  private static func merged(_ one: JSONValue, _ other: JSONValue) -> JSONValue {
    switch (one, other) {
    case (.object(var object), .object(let members)):
      for (key, value) in members { object[key] = object[key].map { merged($0, value) } ?? value }
      return .object(object)
    case (.array(let elements), .array(let others)) where elements.count == others.count:
      return .array(zip(elements, others).map(merged))
    default: return other
    }
  }
}
