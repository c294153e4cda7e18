internal import CarabinerWire

/// A name and a place of an instruction of the plugin, as a child of the supervisor reports it.
struct InstructionSource: Sendable, Hashable {
  let offset: UInt64
  var function: String?
  var file: String?
  var line: Int?

  init(offset: UInt64) { self.offset = offset }

  var json: JSONValue {
    var members: JSONObject = ["offset": .string(String(offset))]
    if let function { members["function"] = .string(function) }
    if let file { members["file"] = .string(file) }
    if let line { members["line"] = .number(JSONNumber(line)) }
    return .object(members)
  }

  init?(_ json: JSONValue) {
    guard let offset = json["offset"]?.string.flatMap(UInt64.init) else { return nil }
    self.offset = offset
    function = json["function"]?.string
    file = json["file"]?.string
    line = json["line"]?.int
  }
}
