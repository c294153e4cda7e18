/// Reads the members of an object for a ``SelectionSet``.
public struct ObjectReader {
  private let members: KeyedDecodingContainer<MemberName>

  /// Reads the object at the place of a decoder.
  ///
  /// - Throws: An error of the decoder if the value is not an object.
  public init(_ decoder: any Decoder) throws { members = try decoder.container(keyedBy: MemberName.self) }

  /// The value of a member that the response has, which may be null.
  public func value<Value: Decodable>(_ name: String) throws -> Value {
    try members.decode(Value.self, forKey: MemberName(stringValue: name))
  }

  /// The value of a member of another form in JSON.
  public func value<Coding: ScalarCoding & Decodable>(_ name: String, as coding: Coding.Type) throws -> Coding.Value {
    Coding.value(of: try value(name))
  }

  /// The value of a member of another form in JSON, with `@include` or `@skip`; nil if it is missing or null.
  public func conditional<Coding: ScalarCoding & Decodable>(_ name: String, as coding: Coding.Type) throws -> Coding.Value? {
    Coding?.value(of: try conditional(name))
  }

  /// The value of a member with `@include` or `@skip`; nil if it is missing or null.
  public func conditional<Value: Decodable>(_ name: String) throws -> Value? {
    try members.decodeIfPresent(Value.self, forKey: MemberName(stringValue: name))
  }

  /// The members that a fragment selects of the same object.
  public func fragment<Fragment: SelectionSet>() throws -> Fragment { try Fragment(reading: self) }

  /// The members that a fragment with `@include` or `@skip` selects; nil if some are missing.
  public func conditionalFragment<Fragment: SelectionSet>() throws -> Fragment? {
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

  private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
  }
}
