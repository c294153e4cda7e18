internal import CarabinerWire

/// The keys of an object of the manifest, each declared once. Reader, schema, defaults and comparisons are derived from them. Rules
/// across keys are functions that run after the keys are read.
///
/// Its functions are not compiled again for each type of object and value, which would take a quarter of the time of this module.
struct Fields<Object: Sendable>: Sendable {
  typealias Rule = @Sendable (inout ManifestReader, Object, JSONObject, JSONPointer) -> Void

  private struct Field: Sendable {
    let name: String
    /// Its schema, with default and description.
    let schema: String
    /// The problem of an object without the key; nil if it may be left out.
    let missing: String?
    /// Whether it is read first, and nothing else is read if it is missing or has a problem.
    let isFirst: Bool
    /// Reads the value into the object; false after it reported a problem.
    let read: @Sendable (inout ManifestReader, JSONValue, JSONPointer, inout Object) -> Bool
    let json: @Sendable (Object) -> JSONValue
    let isEqual: @Sendable (Object, Object) -> Bool
  }

  private var fields: [Field] = []
  /// The object without any key.
  private let standard: Object
  /// The rules across keys: more members of the schema, and the function that checks the same.
  private var rules: [(schema: String, check: Rule)] = []

  /// Declares the keys of an object.
  ///
  /// - Parameter standard: The object without any key.
  @_semantics("optimize.sil.specialize.generic.never")
  init(_ standard: Object, _ declare: (inout Fields) -> Void) {
    self.standard = standard
    declare(&self)
  }

  /// Declares a key.
  ///
  /// - Parameters:
  ///   - usual: The default in the schema, if it differs from the value of the object without any key; null for none.
  ///   - missing: The problem of an object without the key; nil if it may be left out.
  ///   - isFirst: Whether the key is read first, and nothing else is read if it is missing or has a problem.
  @_semantics("optimize.sil.specialize.generic.never")
  mutating func key<Value: Equatable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Object, Value> & Sendable, _ kind: ValueKind<Value>, _ description: String = "",
    usual: JSONValue? = nil, missing: String? = nil, isFirst: Bool = true
  ) {
    let standard = kind.json(standard[keyPath: path])
    add(
      name, kind.schema, description, usual: usual ?? (standard == [] || standard.object != nil ? .null : standard),
      missing: missing, isFirst: isFirst,
      read: { reader, json, place, object in
        guard let value = kind.read(&reader, json, place) else { return false }
        object[keyPath: path] = value
        return true
      },
      json: { kind.json($0[keyPath: path]) }, isEqual: { $0[keyPath: path] == $1[keyPath: path] })
  }

  @_semantics("optimize.sil.specialize.generic.never")
  private mutating func add(
    _ name: String, _ schema: String, _ description: String, usual: JSONValue = .null, missing: String? = nil,
    isFirst: Bool = false,
    read: @escaping @Sendable (inout ManifestReader, JSONValue, JSONPointer, inout Object) -> Bool,
    json: @escaping @Sendable (Object) -> JSONValue, isEqual: @escaping @Sendable (Object, Object) -> Bool
  ) {
    let usual = usual.isNull || missing != nil ? nil : #""default": \#(usual)"#
    let description = description.isEmpty ? nil : #""description": \#(JSONValue.string(description))"#
    let schema = [schema, usual, description].compactMap(\.self).joined(separator: ", ")
    fields.append(
      Field(
        name: name, schema: #""\#(name)": {\#(schema)}"#, missing: missing, isFirst: isFirst && missing != nil, read: read,
        json: json, isEqual: isEqual))
  }

  /// Declares a key whose value is nil if it is left out.
  @_semantics("optimize.sil.specialize.generic.never")
  mutating func key<Value: Equatable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Object, Value?> & Sendable, _ kind: ValueKind<Value>, _ description: String = "",
    usual: JSONValue? = nil
  ) {
    key(name, path, kind.optional, description, usual: usual)
  }

  /// Declares a rule across keys, which is checked after they are read.
  ///
  /// - Parameter schema: The rule as members of the schema, as JSON without braces.
  mutating func rule(_ schema: String, _ check: @escaping Rule) { rules.append((schema, check)) }

  /// Declares a key whose value the caller stores.
  ///
  /// - Parameters:
  ///   - missing: The problem of an object without the key; empty if the caller reports it, nil if the key may be left out.
  ///   - check: Reports problems of the value; false if there are some.
  @_semantics("optimize.sil.specialize.generic.never")
  mutating func other(
    _ name: String, _ schema: String, _ description: String = "", missing: String? = nil,
    check: @escaping @Sendable (inout ManifestReader, JSONValue, JSONPointer) -> Bool = { _, _, _ in true }
  ) {
    add(
      name, schema, description, missing: missing, isFirst: true,
      read: { reader, json, place, _ in check(&reader, json, place) },
      json: { _ in .null }, isEqual: { _, _ in true })
  }

  /// Declares an object whose keys belong to the same value.
  @_semantics("optimize.sil.specialize.generic.never")
  mutating func group(_ name: String, _ description: String, _ declare: (inout Fields) -> Void) {
    let inner = Fields(standard, declare)
    add(
      name, inner.schema, description,
      read: { reader, json, place, object in
        guard let members = reader.object(json, place, knowing: inner.names) else { return false }
        object = inner.read(members, place, &reader, object) ?? object
        return true
      },
      json: { inner.json(of: $0) }, isEqual: { inner.differences($0, $1).isEmpty })
  }

  /// Declares the keys and rules of a part of the value.
  @_semantics("optimize.sil.specialize.generic.never")
  mutating func keys<Part>(of part: Fields<Part>, _ path: any WritableKeyPath<Object, Part> & Sendable) {
    fields += part.fields.map { field in
      Field(
        name: field.name, schema: field.schema, missing: field.missing, isFirst: field.isFirst,
        read: { field.read(&$0, $1, $2, &$3[keyPath: path]) }, json: { field.json($0[keyPath: path]) },
        isEqual: { field.isEqual($0[keyPath: path], $1[keyPath: path]) })
    }
    rules += part.rules.map { rule in (rule.schema, { rule.check(&$0, $1[keyPath: path], $2, $3) }) }
  }

  var names: [String] { fields.map(\.name) }

  /// The members of the schema of the object, as JSON without braces.
  var schema: String {
    let required = fields.filter { $0.missing != nil }.map(\.name)
    return (required.isEmpty ? "" : #""required": \#(required), "#)
      + rules.filter { !$0.schema.isEmpty }.map { "\($0.schema), " }.joined()
      + #""type": "object", "additionalProperties": false, "properties": {"#
      + fields.map(\.schema).joined(separator: ", ") + "}"
  }

  /// The object as a manifest would have it, with all keys that have a value.
  @_semantics("optimize.sil.specialize.generic.never")
  func json(of object: Object) -> JSONValue {
    .object(JSONObject(fields.map { ($0.name, $0.json(object)) }.filter { !$0.1.isNull }))
  }

  /// The keys with their values in the notation of manifests.
  @_semantics("optimize.sil.specialize.generic.never")
  func texts(of object: Object) -> [(key: String, text: String)] { fields.map { ($0.name, $0.json(object).flowText) } }

  /// The names of the keys whose values differ.
  @_semantics("optimize.sil.specialize.generic.never")
  func differences(_ old: Object, _ new: Object) -> [String] { fields.filter { !$0.isEqual(old, new) }.map(\.name) }

  /// Reads an object; nil after a problem with the object itself or with a key that it needs.
  @_semantics("optimize.sil.specialize.generic.never")
  func read(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout ManifestReader) -> Object? {
    guard let members = reader.object(json, pointer, knowing: names) else { return nil }
    return read(members, pointer, &reader, standard)
  }

  /// Reads the members of an object. Unknown ones are ignored.
  @_semantics("optimize.sil.specialize.generic.never")
  func read(_ members: JSONObject, _ pointer: JSONPointer, _ reader: inout ManifestReader, _ standard: Object) -> Object? {
    var object = standard
    for field in fields where members[field.name] == nil {
      guard let missing = field.missing, !missing.isEmpty else { continue }
      reader.problem(.missing, pointer, missing)
      if field.isFirst { return nil }
    }
    for field in fields where field.isFirst {
      guard let value = members[field.name] else { continue }
      guard field.read(&reader, value, pointer.appending(field.name), &object) else { return nil }
    }
    for (name, value) in members {
      guard let field = fields.first(where: { $0.name == name }), !field.isFirst else { continue }
      _ = field.read(&reader, value, pointer.appending(name), &object)
    }
    for rule in rules { rule.check(&reader, object, members, pointer) }
    return object
  }
}
