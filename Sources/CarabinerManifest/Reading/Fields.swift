internal import CarabinerWire

/// The keys of an object of the manifest, each declared once. Reader, schema, defaults, differences and effective settings are
/// derived from them. Rules across keys are functions that run after the keys are read.
struct Fields<Object: Sendable>: Sendable {
  typealias Rule = @Sendable (inout ManifestReader, Object, JSONObject, JSONPointer) -> Void

  private struct Field: Sendable {
    let name: String
    /// Its schema, with default and description.
    let schema: String
    /// The problem of an object without the key; nil if it may be left out.
    let missing: String?
    /// Reads the value into the object; false after it reported a problem.
    let read: @Sendable (inout ManifestReader, JSONValue, JSONPointer, inout Object) -> Bool
    let json: @Sendable (Object) -> JSONValue
    let isEqual: @Sendable (Object, Object) -> Bool
  }

  private var fields: [Field] = []
  /// The object without any key.
  private let standard: Object
  /// More members of the schema, as JSON without braces, and the function that checks the same.
  private let rules: String
  private let rule: Rule?

  /// Declares the keys of an object.
  ///
  /// - Parameters:
  ///   - standard: The object without any key.
  ///   - rules: Members of the schema that describe rules across keys, as JSON without braces.
  ///   - rule: Checks these rules.
  init(_ standard: Object, rules: String = "", rule: Rule? = nil, _ declare: (inout Fields) -> Void) {
    (self.standard, self.rules, self.rule) = (standard, rules, rule)
    declare(&self)
  }

  /// Declares a key.
  ///
  /// - Parameter missing: The problem of an object without the key, which ends the reading; nil if it may be left out.
  mutating func key<Value: Equatable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Object, Value> & Sendable, _ kind: ValueKind<Value>, _ description: String = "",
    missing: String? = nil
  ) {
    var schema = [kind.schema]
    switch kind.json(standard[keyPath: path]) {
    case .null, .object, .array([]): break
    case let usual: if missing == nil { schema.append(#""default": \#(usual)"#) }
    }
    if !description.isEmpty { schema.append(#""description": \#(JSONValue.string(description))"#) }
    fields.append(
      Field(
        name: name, schema: #""\#(name)": {\#(schema.joined(separator: ", "))}"#, missing: missing,
        read: { reader, json, place, object in
          guard let value = kind.read(&reader, json, place) else { return false }
          object[keyPath: path] = value
          return true
        },
        json: { kind.json($0[keyPath: path]) }, isEqual: { $0[keyPath: path] == $1[keyPath: path] }))
  }

  /// Declares a key whose value is nil if it is left out.
  mutating func key<Value: Equatable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Object, Value?> & Sendable, _ kind: ValueKind<Value>, _ description: String = ""
  ) {
    key(name, path, kind.optional, description)
  }

  /// Declares an object whose keys belong to the same value.
  mutating func group(_ name: String, _ description: String, _ declare: (inout Fields) -> Void) {
    let inner = Fields(standard, declare)
    fields.append(
      Field(
        name: name, schema: #""\#(name)": {\#(inner.schema), "description": \#(JSONValue.string(description))}"#, missing: nil,
        read: { reader, json, place, object in
          guard let members = reader.object(json, place, knowing: inner.names) else { return false }
          object = inner.read(members, place, &reader, object) ?? object
          return true
        },
        json: { inner.json(of: $0) }, isEqual: { inner.differences($0, $1).isEmpty }))
  }

  /// Declares the keys of a part of the value.
  mutating func keys<Part>(of part: Fields<Part>, _ path: any WritableKeyPath<Object, Part> & Sendable) {
    fields += part.fields.map { field in
      Field(
        name: field.name, schema: field.schema, missing: field.missing, read: { field.read(&$0, $1, $2, &$3[keyPath: path]) },
        json: { field.json($0[keyPath: path]) }, isEqual: { field.isEqual($0[keyPath: path], $1[keyPath: path]) })
    }
  }

  var names: [String] { fields.map(\.name) }

  /// The members of the schema of the object, as JSON without braces.
  var schema: String {
    let required = fields.filter { $0.missing != nil }.map(\.name)
    return (required.isEmpty ? "" : #""required": \#(required), "#) + (rules.isEmpty ? "" : "\(rules), ")
      + #""type": "object", "additionalProperties": false, "properties": {"#
      + fields.map(\.schema).joined(separator: ", ") + "}"
  }

  /// The object as a manifest would have it, with all keys that have a value.
  func json(of object: Object) -> JSONValue {
    .object(JSONObject(fields.map { ($0.name, $0.json(object)) }.filter { !$0.1.isNull }))
  }

  /// The names of the keys whose values differ.
  func differences(_ old: Object, _ new: Object) -> [String] { fields.filter { !$0.isEqual(old, new) }.map(\.name) }

  /// Reads an object; nil after a problem with the object itself or with a key that it needs.
  func read(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout ManifestReader) -> Object? {
    guard let members = reader.object(json, pointer, knowing: names) else { return nil }
    return read(members, pointer, &reader, standard)
  }

  /// Reads the members of an object. Unknown ones are ignored.
  func read(_ members: JSONObject, _ pointer: JSONPointer, _ reader: inout ManifestReader, _ standard: Object) -> Object? {
    var object = standard
    for field in fields {
      guard let missing = field.missing else { continue }
      guard let value = members[field.name] else {
        reader.problem(.missing, pointer, missing)
        return nil
      }
      guard field.read(&reader, value, pointer.appending(field.name), &object) else { return nil }
    }
    for (name, value) in members {
      guard let field = fields.first(where: { $0.name == name }), field.missing == nil else { continue }
      _ = field.read(&reader, value, pointer.appending(name), &object)
    }
    rule?(&reader, object, members, pointer)
    return object
  }
}
