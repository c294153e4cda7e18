public import CarabinerWire

/// How objects are named in a store, and how long what was received counts.
public struct CacheKeyPolicy: Sendable, Hashable {
  /// How a field finds its object when no response put it there.
  public struct FieldPolicy: Sendable, Hashable {
    /// The type of the object.
    public var type: String
    /// The arguments whose values are the object's key, in the order of the type's key fields. A member of an input object is written
    /// with dots, as in `input.name`. If one value is a list, the field has a list of objects.
    public var keyArguments: [String]

    /// A field that brings the object of a type which its arguments name.
    public init(type: String, keyArguments: [String]) {
      self.type = type
      self.keyArguments = keyArguments
    }
  }

  /// `id` names the objects of every type, and nothing ages.
  public static let `default` = CacheKeyPolicy()

  /// The fields that name an object, for types that have a say.
  public var keyFields: [String: [String]]
  /// The fields that name an object of any other type; empty for none.
  public var defaultKeyFields: [String]
  /// Field policies by `Type.field`.
  public var fieldPolicies: [String: FieldPolicy]
  /// Finds the objects of fields that have no policy; nil for none.
  public var fieldResolver: FieldResolver?
  /// Seconds a value counts, by `Type.field` or `Type`; the former wins.
  public var maximumAges: [String: Double]
  /// Seconds a value counts for which ``maximumAges`` has nothing; nil for ever.
  public var defaultMaximumAge: Double?
  /// The server's schema: with it the store knows which types an interface or a union can be; nil to learn that from responses.
  public var schema: GraphQLSchemaTypes?

  /// A policy, each value with its default.
  ///
  /// The types of the roots are `Query`, `Mutation` and `Subscription` here, whatever a schema calls them.
  public init(
    keyFields: [String: [String]] = [:], defaultKeyFields: [String] = ["id"], fieldPolicies: [String: FieldPolicy] = [:],
    maximumAges: [String: Double] = [:], defaultMaximumAge: Double? = nil, schema: GraphQLSchemaTypes? = nil,
    fieldResolver: FieldResolver? = nil
  ) {
    self.keyFields = keyFields
    self.defaultKeyFields = defaultKeyFields
    self.fieldPolicies = fieldPolicies
    self.maximumAges = maximumAges
    self.defaultMaximumAge = defaultMaximumAge
    self.schema = schema
    self.fieldResolver = fieldResolver
  }

  /// The fields that name an object of a type.
  public func keyFields(of type: String) -> [String] {
    keyFields.isEmpty ? defaultKeyFields : keyFields[type] ?? defaultKeyFields
  }

  /// Whether a field may find its objects by its arguments.
  var findsObjects: Bool { !fieldPolicies.isEmpty || fieldResolver != nil }

  /// Whether nothing ages, so that times need not be looked at.
  var isAgeless: Bool { maximumAges.isEmpty && defaultMaximumAge == nil }

  /// Milliseconds a field counts; nil for ever.
  func maximumAge(of field: Substring, type: String) -> Int64? {
    (maximumAges["\(type).\(field)"] ?? maximumAges[type] ?? defaultMaximumAge).map { Int64($0 * 1000) }
  }

  /// Appends one of several key values, so that no two lists of values look alike.
  static func appendKeyPart(_ part: Span<UInt8>, isOnlyOne: Bool, to key: inout [UInt8]) {
    for offset in part.indices {
      let byte = part[offset]
      if !isOnlyOne, byte == UInt8(ascii: "+") || byte == UInt8(ascii: "\\") { key.append(UInt8(ascii: "\\")) }
      key.append(byte)
    }
  }
}
