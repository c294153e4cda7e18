internal import CarabinerWire

/// Reads the members of an object for a ``SelectionSet``, in any order.
public struct ObjectReader {
  private let object: JSONTapeDecoder

  /// - Throws: `DecodingError` if the value is not an object.
  init(_ decoder: JSONTapeDecoder) throws {
    try decoder.requireObject()
    object = decoder
  }

  /// Reads the object at the place of a decoder.
  ///
  /// - Throws: An error of the decoder if the value is not an object.
  init(_ decoder: any Decoder) throws {
    if let decoder = decoder as? JSONTapeDecoder {
      try self.init(decoder)
    } else {
      // A decoder of another library. Its value becomes a text.
      try self.init(JSONTapeDecoder(reading: try JSONValue(from: decoder).serialized()))
    }
  }

  /// All members, without the mark of a mock.
  func members() throws -> JSONObject {
    var members = try JSONValue(parsing: object.raw.span).object ?? [:]
    members[MockValues.mark.description] = nil
    return members
  }

  /// The value of a member that the response has, which may be null.
  public func value<Value: ResponseValue>(_ name: StaticString) throws -> Value {
    try Value.value(reading: ValueReader(object.requiredMember(name)))
  }

  // Functions for the scalars of GraphQL, because calls of generic functions of another module take several times as long.

  /// The value of a member that is a string.
  public func value(_ name: StaticString) throws -> String { try object.string(name) }
  /// The value of a member that is an integer.
  public func value(_ name: StaticString) throws -> Int { try object.int(name) }
  /// The value of a member that is a number.
  public func value(_ name: StaticString) throws -> Double { try object.double(name) }
  /// The value of a member that is a Boolean.
  public func value(_ name: StaticString) throws -> Bool { try object.bool(name) }
  /// The value of a member that is a list of strings.
  public func value(_ name: StaticString) throws -> [String] { try object.strings(name) }
  /// The value of a member that is a string or null.
  public func value(_ name: StaticString) throws -> String? { try object.nullableString(name) }
  /// The value of a member that is an integer or null.
  public func value(_ name: StaticString) throws -> Int? { try object.nullableInt(name) }
  /// The value of a member that is a number or null.
  public func value(_ name: StaticString) throws -> Double? { try object.nullableDouble(name) }
  /// The value of a member that is a Boolean or null.
  public func value(_ name: StaticString) throws -> Bool? { try object.nullableBool(name) }

  /// The value of a member whose type in Swift differs from its JSON form.
  public func value<Coding: ScalarCoding & ResponseValue>(_ name: StaticString, as coding: Coding.Type) throws -> Coding.Value {
    Coding.value(of: try value(name))
  }

  /// The value of such a member with `@include` or `@skip`; nil if it is missing or null.
  public func conditional<Coding: ScalarCoding & ResponseValue>(
    _ name: StaticString, as coding: Coding.Type
  ) throws -> Coding.Value? {
    Coding?.value(of: try conditional(name))
  }

  /// The value of a member with `@include` or `@skip`; nil if it is missing or null.
  public func conditional<Value: ResponseValue>(_ name: StaticString) throws -> Value? {
    guard let member = try object.conditionalMember(name), !member.decodeNil() else { return nil }
    return try Value.value(reading: ValueReader(member))
  }

  /// The members that a fragment selects of the same object.
  public func fragment<Fragment: SelectionSet>() throws -> Fragment { try Fragment(reading: self) }

  /// The members that a fragment with `@include` or `@skip` selects; nil if some are missing.
  public func conditionalFragment<Fragment: SelectionSet>() throws -> Fragment? {
    if object.omitsConditional { return nil }
    do {
      return try Fragment(reading: self)
    } catch DecodingError.keyNotFound {
      return nil
    }
  }

  /// The members that a fragment selects of objects of a type; nil if the object is of another one.
  public func fragment<Fragment: SelectionSet>(on type: String) throws -> Fragment? {
    try typeName() == type ? Fragment(reading: self) : nil
  }

  /// The members that a fragment selects of objects of some types; nil if the object is of another one.
  public func fragment<Fragment: SelectionSet>(on types: Set<String>) throws -> Fragment? {
    try types.contains(typeName()) ? Fragment(reading: self) : nil
  }

  /// The members that a fragment with `@include` or `@skip` selects of objects of a type; nil if some are missing, or if the object is of
  /// another type.
  public func conditionalFragment<Fragment: SelectionSet>(on type: String) throws -> Fragment? {
    try typeName() == type ? conditionalFragment() : nil
  }

  /// The members that a fragment with `@include` or `@skip` selects of objects of some types; nil if some are missing, or if the object is
  /// of another type.
  public func conditionalFragment<Fragment: SelectionSet>(on types: Set<String>) throws -> Fragment? {
    try types.contains(typeName()) ? conditionalFragment() : nil
  }

  /// The members that a fragment with `@defer` selects, if the response has them.
  public func deferred<Fragment: SelectionSet>() throws -> Deferred<Fragment> { Deferred(try conditionalFragment()) }

  private func typeName() throws -> String { try value("__typename") }
}
