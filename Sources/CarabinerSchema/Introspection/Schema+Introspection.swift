public import CarabinerWire

extension Schema {
  /// Reads a schema from an introspection result in JSON, with or without the outer `data`.
  ///
  /// Results of servers since 2016 are accepted. Members that the server lacks have their defaults, and unknown members are ignored.
  ///
  /// - Throws: ``SchemaError`` if the text is not an introspection result, or uses a type that it does not define.
  public init(introspection text: String, limits: SchemaLimits = SchemaLimits()) throws(SchemaError) {
    guard text.utf8.count <= limits.maximumIntrospectionBytes else {
      throw SchemaError(
        .tooLarge,
        """
        the introspection result has \(text.utf8.count) bytes and at most \(limits.maximumIntrospectionBytes) are allowed; \
        use the schema definition language, which is shorter
        """)
    }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: text)
    } catch {
      throw SchemaError(
        error.code == .tooDeep ? .tooDeep : .notJSON,
        "the introspection result cannot be read: \(error); repeat the introspection")
    }
    try self.init(introspection: json, limits: limits)
  }

  /// Reads a schema from an introspection result, with or without the outer `data`.
  ///
  /// - Throws: ``SchemaError`` if the value is not an introspection result, or uses a type that it does not define.
  public init(introspection json: JSONValue, limits: SchemaLimits = SchemaLimits()) throws(SchemaError) {
    guard let schema = (json["data"] ?? json)["__schema"]?.object else {
      let reason = json["errors"]?[0]?["message"]?.string.map { "; the server answered: \($0)" } ?? ""
      throw SchemaError(
        .notIntrospection, "the result has no __schema; ask the server for introspection, or use its schema as a text\(reason)")
    }
    var reader = IntrospectionReader(limits: limits)
    try reader.read(schema)
    self = reader.builder.schema()
  }
}
