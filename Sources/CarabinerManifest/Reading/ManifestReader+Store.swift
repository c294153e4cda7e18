internal import Carabiner
internal import CarabinerFiles
internal import CarabinerSchema
internal import CarabinerWire
internal import Glibc

extension ManifestReader {
  mutating func readStore(_ json: JSONValue, _ pointer: JSONPointer) {
    guard var store = Manifest.Store.fields.read(json, pointer, &self) else { return }
    // Field policies are checked against the keys of objects, so all keys are read first.
    if let policies = json["field-policies"] {
      store.policy.fieldPolicies = fieldPolicies(policies, pointer.appending("field-policies"), of: store.policy)
    }
    manifest.store = store
  }

  /// Warns about limits that apply only to another kind of store.
  mutating func warnAboutStoreLimits(_ settings: JSONObject, _ pointer: JSONPointer) {
    for key in ["store-records", "store-bytes", "store-fields", "store-file-bytes"] where settings[key] != nil {
      let place = pointer.appending(key)
      if manifest.store.redis != nil {
        warn(
          .unusedSetting, place, "\(key) does nothing: it is not for a store in Redis; set maxmemory there, and remove the key")
      } else if manifest.store.file == nil, key == "store-file-bytes" {
        warn(
          .unusedSetting, place,
          "store-file-bytes does nothing: it is for a store in a file, and this one is in memory; use store-bytes")
      } else if manifest.store.file != nil, key == "store-records" || key == "store-bytes" {
        warn(
          .unusedSetting, place, "\(key) does nothing: it is for a store in memory, and this one is in a file; remove it")
      }
    }
  }

  /// Warns if responses to one client may be given to another: fields that identify a client are forwarded, and all clients share
  /// the store.
  mutating func warnAboutSharedStore(_ pointer: JSONPointer) {
    guard manifest.serve.cachePolicy != .networkOnly,
      let name = manifest.serve.forwardedHeaders.first(where: Self.mayIdentifyClient)
    else { return }
    let clients = manifest.store.redis == nil ? "all clients" : "all clients of all hosts with this store"
    warn(
      .sharedStore, pointer,
      "forward-headers has \(name), and \(clients) share the store: one may get what the upstream answered to another; "
        + "use cache-policy: networkOnly, or do not forward the field")
  }

  /// Whether a pattern of forwarded fields matches one that may identify the client: `authorization`, `cookie`, or a field that
  /// begins with `x-` and is not the number of a request.
  private static func mayIdentifyClient(_ pattern: String) -> Bool {
    let names = ["authorization", "cookie", "x-"]
    let pattern = pattern.lowercased()
    if pattern.hasPrefix("x-") { return pattern != "x-request-id" }
    guard pattern.hasSuffix("*") else { return names.contains(pattern) }
    return names.contains { $0.hasPrefix(pattern.dropLast()) }
  }

  /// The path of a file that exists or can be created.
  fileprivate mutating func databaseFile(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let path = path(json, pointer) else { return nil }
    // A path that ends in "/." exists only for a folder.
    guard unsafe access("\(path)/.", F_OK) != 0 else {
      problem(.missing, pointer, "there is no file \(path), but a folder; name a file in it")
      return nil
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    guard unsafe access("\(folder).", F_OK) == 0 else {
      problem(.missing, pointer, "there is no folder \(folder) for the store's file; create it, or correct the path")
      return nil
    }
    return path
  }

  /// The schema in a file.
  fileprivate mutating func schema(_ json: JSONValue, _ pointer: JSONPointer) -> Schema? {
    guard let path = existing(json, pointer, "correct the path, or remove the key") else { return nil }
    let limits = SchemaLimits()
    do {
      return try Schema(parsing: BoundedFile.text(at: path, maximumBytes: limits.maximumBytes), limits: limits)
    } catch let error as SchemaError {
      problem(
        .syntax, pointer, "\(path) is not a schema in the schema definition language: \(error); export the schema again")
    } catch BoundedFile.Fault.tooLarge {
      problem(.tooLarge, pointer, "the schema \(path) has more than \(limits.maximumBytes) bytes; use a smaller one")
    } catch BoundedFile.Fault.notText {
      problem(.unreadable, pointer, "the schema \(path) is not UTF-8; use a schema in the schema definition language")
    } catch {
      problem(.unreadable, pointer, "the schema \(path) cannot be read: \(error); check its permissions")
    }
    return nil
  }

  fileprivate mutating func keyFields(_ json: JSONValue, _ pointer: JSONPointer) -> [String: [String]] {
    guard case .object(let object) = json else {
      wrongType(json, pointer, "an object of fields by type")
      return [:]
    }
    var fields: [String: [String]] = [:]
    for (type, value) in object {
      let place = pointer.appending(type)
      guard GraphQLName.isValid(type) else {
        problem(.invalidValue, place, "\(type.debugDescription) is not a type name; write one as in Book: isbn")
        continue
      }
      fields[type] = graphQLNames(value, place)
    }
    return fields
  }

  fileprivate mutating func maximumAges(_ json: JSONValue, _ pointer: JSONPointer) -> [String: Double] {
    guard case .object(let object) = json else {
      wrongType(json, pointer, "an object of durations by type or field")
      return [:]
    }
    var ages: [String: Double] = [:]
    for (name, value) in object {
      let place = pointer.appending(name)
      guard GraphQLName.isValid(name) || isFieldOfType(name) else {
        problem(.invalidValue, place, "\(name.debugDescription) is neither a type nor a field of one; write Book or Book.price")
        continue
      }
      ages[name] = duration(value, place, orZero: true)?.seconds
    }
    return ages
  }

  private mutating func fieldPolicies(
    _ json: JSONValue, _ pointer: JSONPointer, of keys: CacheKeyPolicy
  ) -> [String: CacheKeyPolicy.FieldPolicy] {
    guard case .object(let object) = json else {
      wrongType(json, pointer, "an object of policies by field")
      return [:]
    }
    var policies: [String: CacheKeyPolicy.FieldPolicy] = [:]
    for (name, value) in object {
      let place = pointer.appending(name)
      guard isFieldOfType(name) else {
        problem(.invalidValue, place, "\(name.debugDescription) is not a field of a type; write one as in Query.book")
        continue
      }
      policies[name] = fieldPolicy(value, place, of: keys)
    }
    return policies
  }

  private mutating func fieldPolicy(
    _ json: JSONValue, _ pointer: JSONPointer, of keys: CacheKeyPolicy
  ) -> CacheKeyPolicy.FieldPolicy? {
    guard let object = object(json, pointer, knowing: ["type", "arguments"]) else { return nil }
    guard let type = object["type"], let arguments = object["arguments"] else {
      problem(.missing, pointer, "a field policy has the type of the object and the arguments that name it; write both")
      return nil
    }
    let names = graphQLNames(arguments, pointer.appending("arguments"), orNone: false, arePaths: true)
    guard let type = graphQLName(type, pointer.appending("type")), let names else { return nil }
    let fields = keys.keyFields(of: type)
    guard fields.count == names.count else {
      problem(
        .invalidValue, pointer.appending("arguments"),
        "the number of arguments does not fit the key of \(type), which "
          + (fields.isEmpty ? "has none; give it key-fields" : "is \(fields.joined(separator: ", ")); name one for each"))
      return nil
    }
    return CacheKeyPolicy.FieldPolicy(type: type, keyArguments: names)
  }

  // MARK: Names of GraphQL

  /// A name, or a list of names; nil if one of them is not valid.
  fileprivate mutating func graphQLNames(
    _ json: JSONValue, _ pointer: JSONPointer, orNone: Bool = true, arePaths: Bool = false
  ) -> [String]? {
    switch json {
    case .string: return graphQLName(json, pointer, isPath: arePaths).map { [$0] }
    case .array(let elements):
      if elements.isEmpty, !orNone { problem(.invalidValue, pointer, "this list is empty; name something") }
      var names: [String] = []
      for (index, element) in elements.enumerated() {
        let place = pointer.appending(index)
        guard let name = graphQLName(element, place, isPath: arePaths) else { continue }
        guard !names.contains(name) else {
          problem(.duplicateName, place, "\(name) is in this list already; remove one of them")
          continue
        }
        names.append(name)
      }
      return names.count == elements.count && (orNone || !names.isEmpty) ? names : nil
    default:
      wrongType(json, pointer, "a name or a list of names")
      return nil
    }
  }

  /// A name, or several names separated by dots.
  private mutating func graphQLName(_ json: JSONValue, _ pointer: JSONPointer, isPath: Bool = false) -> String? {
    guard let name = text(json, pointer) else { return nil }
    let names = isPath ? name.split(separator: ".", omittingEmptySubsequences: false) : [name[...]]
    guard names.allSatisfy({ GraphQLName.isValid($0) }) else {
      problem(.invalidValue, pointer, "\(name.debugDescription) is not a GraphQL name; use letters, digits and _")
      return nil
    }
    return name
  }

  private func isFieldOfType(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { GraphQLName.isValid($0) }
  }
}

extension Manifest.Store {
  static let fields = Fields(Self()) {
    $0.key(
      "file", \.file, .text { $0.databaseFile($1, $2) },
      "A SQLite database, relative to the manifest. It is created if it does not exist. Without it the store is in memory.")
    $0.key(
      "redis", \.redis, .object(Manifest.RedisStore.fields),
      "Servers of Redis or Valkey that hold the store, for all hosts with the same servers and prefix.")
    $0.key(
      "schema", \.policy.schema, ValueKind(ValueKind<String>.text.schema) { $0.schema($1, $2) },
      "The schema of the server (SDL), relative to the manifest. Without it types are learnt from responses.")
    $0.key(
      "key-fields", \.policy.keyFields,
      ValueKind(
        ##""type": "object", "propertyNames": {"$ref": "#/$defs/graphqlName"}, "##
          + ##""additionalProperties": {"$ref": "#/$defs/graphqlNames"}"##
      ) { $0.keyFields($1, $2) }, "The fields that identify an object, by type. An empty list for none.")
    $0.key(
      "default-key-fields", \.policy.defaultKeyFields,
      ValueKind(##""$ref": "#/$defs/graphqlNames""##) { $0.graphQLNames($1, $2) },
      "The fields that identify an object of any other type.", usual: "id")
    $0.other(
      "field-policies",
      ##"""
      "type": "object",
      "propertyNames": {"pattern": "^[_A-Za-z][_0-9A-Za-z]*[.][_A-Za-z][_0-9A-Za-z]*$"},
      "additionalProperties": {
        "type": "object",
        "required": ["type", "arguments"],
        "additionalProperties": false,
        "properties": {
          "type": {"$ref": "#/$defs/graphqlName"},
          "arguments": {
            "$ref": "#/$defs/graphqlPaths", "minItems": 1,
            "description": "One argument per key field, in the same order. input.name is a member of an input object."
          }
        }
      }
      """##, "Fields, such as Query.book, whose arguments identify the object that they return.")
    $0.key(
      "maximum-ages", \.policy.maximumAges,
      ValueKind(
        #""type": "object", "propertyNames": {"pattern": "^[_A-Za-z][_0-9A-Za-z]*([.][_A-Za-z][_0-9A-Za-z]*)?$"}, "#
          + ##""additionalProperties": {"$ref": "#/$defs/delay"}"##
      ) { $0.maximumAges($1, $2) },
      "The time for which a value is valid, by type (Book) or field (Book.price). A field wins over its type.")
    $0.key(
      "default-maximum-age", \.policy.defaultMaximumAge, .delay,
      "The time for which all other values are valid. Unlimited without it.")
    $0.key(
      "results-with-errors", \.keepsResultsWithErrors, .truth, "Whether the data of results with errors is kept.")
    $0.rule(#""not": {"required": ["file", "redis"]}"#) { reader, _, members, pointer in
      guard members["file"] != nil, members["redis"] != nil else { return }
      reader.problem(
        .invalidValue, pointer.appending("redis"), "file and redis both name the place of the store; remove one of them")
    }
  }
}
