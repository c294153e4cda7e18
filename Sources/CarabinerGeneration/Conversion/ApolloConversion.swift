internal import CarabinerWire

/// Converts an `apollo-codegen-config.json` of Apollo iOS 1 or 2.
struct ApolloConversion {
  /// The settings without a counterpart.
  private(set) var unconverted: [String] = []
  private var schema: [String] = []
  private var introspection: String?
  private var documents: [String] = []
  private var folder: String?
  private var isBesideDocuments = false
  private var access: String?
  private var manifest: String?
  /// The modules that the generated code may be in: the target that it is embedded in, or its own one.
  private var (target, namespace): (String?, String?)
  /// The folder of the mocks, or its name in the folder of the generated files.
  private var (mocks, mocksTarget): (String?, String?)
  private var renames: [(String, String)] = []

  mutating func convert(_ configuration: JSONObject) {
    for (key, value) in configuration {
      switch key {
      case "input": each(value, key) { $0.convertInput($1, $2) }
      case "schemaNamespace":
        namespace = value.string
        drop(key, value)
      case "output": each(value, key) { $0.convertOutput($1, $2) }
      case "options": each(value, key) { $0.convertOption($1, $2) }
      case "operationManifest": convertManifest(value, key)
      default: drop(key, value)
      }
    }
  }

  /// The configuration. Missing settings have the values of a new configuration.
  var text: String {
    let files = Self.list(schema.isEmpty ? ["schema.graphqls"] : schema)
    let schema = introspection.map { "{introspection: \(Self.quoted($0))}" } ?? files
    var output = ["folder: \(Self.quoted(folder ?? "Generated"))"]
    if isBesideDocuments { output.append("beside-documents: true") }
    if let access { output.append("access: \(access)") }
    if let manifest { output.append("manifest: \(Self.quoted(manifest))") }
    if let mocks = mocks ?? mocksTarget.map({ Paths.joined(folder ?? "Generated", $0) }) {
      let module = (target ?? namespace).map { ", module: \(Self.quoted($0))" } ?? ""
      output.append("mocks: {folder: \(Self.quoted(mocks))\(module)}")
    }
    var lines = [
      "schema: \(schema)", "documents: \(Self.list(documents.isEmpty ? ["**/*.graphql"] : documents))",
      "output: {\(output.joined(separator: ", "))}",
    ]
    if !renames.isEmpty { lines.append("renames:") }
    for (name, other) in renames { lines.append("  \(Self.quoted(name)): \(Self.quoted(other))") }
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: Parts

  private mutating func convertInput(_ key: String, _ value: JSONValue) {
    switch key {
    case "schemaSearchPaths", "schemaPath":
      for path in Self.texts(value) {
        if path.hasSuffix(".json") { introspection = path } else { schema.append(path) }
      }
    case "operationSearchPaths": documents += Self.texts(value)
    default: drop("input.\(key)", value)
    }
  }

  private mutating func convertOutput(_ key: String, _ value: JSONValue) {
    switch key {
    case "schemaTypes":
      each(value, "output.schemaTypes") { conversion, key, value in
        switch (key, value) {
        case ("path", .string(let path)): conversion.folder = path
        case ("moduleType", .object(let type)): conversion.convertModule(type)
        default: conversion.drop("output.schemaTypes.\(key)", value)
        }
      }
    case "operations":
      each(value, "output.operations") { conversion, key, value in
        if key == "inSchemaModule" { return }
        conversion.isBesideDocuments = conversion.isBesideDocuments || key == "relative"
        for (name, setting) in value.object ?? [:] {
          if name == "accessModifier", let word = setting.string {
            conversion.access = word
          } else {
            conversion.drop("output.operations.\(key).\(name)", setting)
          }
        }
      }
    case "testMocks": each(value, "output.testMocks") { $0.convertMocks($1, $2) }
    default:
      // The choice `none` has no effect.
      if value.object?["none"] == nil { drop("output.\(key)", value) }
    }
  }

  private mutating func convertMocks(_ kind: String, _ value: JSONValue) {
    if kind == "none" { return }
    if kind == "swiftPackage" { mocksTarget = value.object?["targetName"]?.string ?? "TestMocks" }
    for (name, setting) in value.object ?? [:] where name != "targetName" {
      if name == "path", let path = setting.string { mocks = path } else { drop("output.testMocks.\(kind).\(name)", setting) }
    }
  }

  /// Converts the module of the generated code. Declarations in a module of their own must be public.
  private mutating func convertModule(_ type: JSONObject) {
    for (kind, value) in type {
      let word = value.object?["accessModifier"]?.string
      if kind == "embeddedInTarget" { access = word ?? access ?? "internal" } else { access = "public" }
      if kind == "embeddedInTarget" { target = value.object?["name"]?.string }
      for (name, setting) in value.object ?? [:] where name != "accessModifier" {
        drop("output.schemaTypes.moduleType.\(kind).\(name)", setting)
      }
      if kind != "embeddedInTarget" { drop("output.schemaTypes.moduleType.\(kind)", .null) }
    }
  }

  private mutating func convertManifest(_ value: JSONValue, _ key: String) {
    each(value, key) { conversion, name, value in
      switch (name, value) {
      case ("path", .string(let path)): conversion.manifest = path.hasSuffix(".json") ? path : path + ".json"
      case ("version", "persistedQueries"), ("generateManifestOnCodeGeneration", true): break
      default: conversion.drop("\(key).\(name)", value)
      }
    }
  }

  private mutating func convertOption(_ key: String, _ value: JSONValue) {
    switch (key, value) {
    // The generator always does this.
    case ("pruneGeneratedFiles", true), ("deprecatedEnumCases", "include"), ("schemaDocumentation", "include"): break
    case ("schemaCustomization", .object(let customization)):
      for (name, value) in customization {
        if name == "customTypeNames" {
          each(value, "options.\(key).\(name)") { $0.convertTypeName($1, $2) }
        } else {
          drop("options.\(key).\(name)", value)
        }
      }
    default: drop("options.\(key)", value)
    }
  }

  private mutating func convertTypeName(_ type: String, _ value: JSONValue) {
    if let name = value.string { return renames.append((type, name)) }
    let place = "options.schemaCustomization.customTypeNames.\(type)"
    for (kind, value) in value.object ?? [:] {
      for (key, value) in value.object ?? [:] {
        switch (key, value) {
        case ("name", .string(let name)): renames.append((type, name))
        case ("cases", .object(let members)), ("fields", .object(let members)):
          for (member, name) in members { if let name = name.string { renames.append(("\(type).\(member)", name)) } }
        default: drop("\(place).\(kind).\(key)", value)
        }
      }
    }
  }

  // MARK: Values

  private mutating func each(_ value: JSONValue, _ key: String, _ convert: (inout Self, String, JSONValue) -> Void) {
    guard let object = value.object else { return drop(key, value) }
    for (key, value) in object { convert(&self, key, value) }
  }

  private mutating func drop(_ key: String, _ value: JSONValue) {
    let text = value.isNull ? "" : ": \(value.description.prefix(80))"
    unconverted.append("\(key)\(text) has no counterpart and is left out")
  }

  private static func texts(_ value: JSONValue) -> [String] {
    (value.array ?? [value]).compactMap(\.string).map { $0.hasPrefix("./") ? String($0.dropFirst(2)) : $0 }
  }

  private static func list(_ texts: [String]) -> String { "[\(texts.map(quoted).joined(separator: ", "))]" }

  /// A JSON string is also a valid YAML string.
  private static func quoted(_ text: String) -> String { JSONValue.string(text).description }
}
