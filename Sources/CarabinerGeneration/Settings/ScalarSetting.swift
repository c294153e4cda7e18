internal import CarabinerGenerator
internal import CarabinerWire

/// The type of a custom scalar as a configuration has it: `URL`, or `{type: Date, coding: iso8601}`.
struct ScalarSetting {
  private let type: String
  private let module: String?
  private let coding: String?

  /// The words for codings of the client library.
  private static let codings = ["iso8601": "ISO8601Date"]

  /// Reads a setting; nil after a problem was reported.
  init?(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout SettingsReader) {
    guard json.object != nil else {
      guard let type = reader.swiftName(json, pointer) else { return nil }
      self.init(type, nil, nil, pointer, &reader)
      return
    }
    guard let members = reader.object(json, pointer, knowing: ["type", "module", "coding"]) else { return nil }
    guard let word = members["type"] else {
      reader.problem(pointer, "the scalar has no type; add one, as in {type: Date, coding: iso8601}")
      return nil
    }
    guard let type = reader.swiftName(word, pointer.appending("type")) else { return nil }
    var module: String?
    if let word = members["module"] {
      guard let name = reader.swiftName(word, pointer.appending("module")) else { return nil }
      module = name
    }
    var coding: String?
    if let word = members["coding"] {
      guard let name = reader.swiftName(word, pointer.appending("coding")) else { return nil }
      coding = Self.codings[name] ?? name
    }
    self.init(type, module, coding, pointer, &reader)
  }

  private init?(
    _ type: String, _ module: String?, _ coding: String?, _ pointer: JSONPointer, _ reader: inout SettingsReader
  ) {
    guard type != "Date" || module != nil || coding != nil else {
      reader.problem(pointer, "a Date has many forms in JSON; name one, as in {type: Date, coding: iso8601}")
      return nil
    }
    self.type = type
    self.module = module
    self.coding = coding
  }

  /// The type for the generator. Types are qualified, because a scalar may have the same name.
  func scalar(clientModule: String) -> GeneratorConfiguration.Scalar {
    if let module { return .init(type: "\(module).\(type)", module: module, coding: coding) }
    switch type {
    case "Date", "Decimal", "URL", "UUID": return .init(type: "Foundation.\(type)", module: "Foundation", coding: coding)
    case "Int64": return .init(type: "Swift.Int64", coding: coding)
    case "JSON": return .init(type: "\(clientModule).JSONValue", module: clientModule, coding: coding)
    default: return .init(type: type, coding: coding)
    }
  }
}
