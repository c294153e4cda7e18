public import CarabinerSchema

/// The keys of objects in a store, and the maximum age of values.
public struct CacheKeyPolicy: Sendable, Hashable {
  /// How a field finds its object if no response contained the field yet.
  public struct FieldPolicy: Sendable, Hashable {
    /// The type of the object.
    public var type: String
    /// The arguments whose values form the key of the object, in the order of the key fields of its type. A member of an input object
    /// is written as a path, for example `input.name`. If one value is a list, the field has a list of objects.
    public var keyArguments: [String]

    /// Creates a policy for a field that returns the object of a type with the key in its arguments.
    public init(type: String, keyArguments: [String]) {
      self.type = type
      self.keyArguments = keyArguments
    }
  }

  /// The default: `id` is the key field of every type, and values are valid for ever.
  public static let `default` = CacheKeyPolicy()

  /// The key fields by type. A type without an entry has those of its interfaces in the ``schema``. If several interfaces have an
  /// entry, the first by name applies.
  public var keyFields: [String: [String]]
  /// The key fields of all other types; empty for none.
  public var defaultKeyFields: [String]
  /// Creates the keys of objects without key fields; nil for no such function.
  public var objectKey: ObjectKeyFunction?
  /// Field policies by `Type.field`.
  public var fieldPolicies: [String: FieldPolicy]
  /// Finds the objects of fields that have no policy; nil for none.
  public var fieldResolver: FieldResolver?
  /// The maximum age of values in seconds, by `Type.field` or `Type`. `Type.field` takes precedence.
  public var maximumAges: [String: Double]
  /// The maximum age in seconds of values without an entry in ``maximumAges``; nil for no limit.
  public var defaultMaximumAge: Double?
  /// The schema of the server, which defines the types of interfaces and unions; nil to learn them from responses.
  public var schema: Schema? {
    get { storeSchema?.schema }
    set { storeSchema = newValue.map(StoreSchema.init) }
  }
  private(set) var storeSchema: StoreSchema?

  /// Creates a policy.
  ///
  /// The root types are called `Query`, `Mutation` and `Subscription` here, even if the schema has other names.
  public init(
    keyFields: [String: [String]] = [:], defaultKeyFields: [String] = ["id"], fieldPolicies: [String: FieldPolicy] = [:],
    maximumAges: [String: Double] = [:], defaultMaximumAge: Double? = nil, schema: Schema? = nil,
    fieldResolver: FieldResolver? = nil, objectKey: ObjectKeyFunction? = nil
  ) {
    self.keyFields = keyFields
    self.defaultKeyFields = defaultKeyFields
    self.fieldPolicies = fieldPolicies
    self.maximumAges = maximumAges
    self.defaultMaximumAge = defaultMaximumAge
    storeSchema = schema.map(StoreSchema.init)
    self.fieldResolver = fieldResolver
    self.objectKey = objectKey
  }

  /// The key fields of a type.
  public func keyFields(of type: String) -> [String] {
    guard !keyFields.isEmpty else { return defaultKeyFields }
    if let fields = keyFields[type] { return fields }
    for interface in storeSchema?.interfaces(of: type) ?? [] {
      if let fields = keyFields[interface] { return fields }
    }
    return defaultKeyFields
  }

  /// Whether fields may find their objects by their arguments.
  var findsObjects: Bool { !fieldPolicies.isEmpty || fieldResolver != nil }

  /// Whether all values are valid for ever, so that times need not be checked.
  var isAgeless: Bool { maximumAges.isEmpty && defaultMaximumAge == nil }

  /// The maximum age of a field in milliseconds; nil for no limit.
  package func maximumAge(of field: Substring, type: String) -> Int64? {
    (maximumAges["\(type).\(field)"] ?? maximumAges[type] ?? defaultMaximumAge).map { Int64($0 * 1000) }
  }

  /// Appends one key value. Values are escaped, so that different lists of values give different keys.
  static func appendKeyPart(_ part: Span<UInt8>, isOnlyOne: Bool, to key: inout [UInt8]) {
    for offset in part.indices {
      let byte = part[offset]
      if !isOnlyOne, byte == UInt8(ascii: "+") || byte == UInt8(ascii: "\\") { key.append(UInt8(ascii: "\\")) }
      key.append(byte)
    }
  }
}
