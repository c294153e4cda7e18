internal import CarabinerWire

extension ManifestReader {
  /// Reads `serve.limits`.
  mutating func limits(_ json: JSONValue, _ pointer: JSONPointer) -> [ServeLimit: LimitValue] {
    guard let object = object(json, pointer, knowing: ServeLimit.allCases.map(\.rawValue)) else { return [:] }
    var limits: [ServeLimit: LimitValue] = [:]
    for (key, value) in object {
      guard let limit = ServeLimit(rawValue: key) else { continue }
      limits[limit] = self.value(of: limit, value, pointer.appending(key))
    }
    for limit in [ServeLimit.rateBurst, .rateKey] where object[limit.rawValue] != nil && object["rate"] == nil {
      problem(
        .invalidValue, pointer.appending(limit.rawValue),
        "\(limit.rawValue) needs rate; write rate: with a number and a unit, as 100/s")
    }
    if limits[.legacyWebSocket] == .truth(true), limits[.webSocket] == .truth(false) {
      problem(
        .invalidValue, pointer.appending(ServeLimit.legacyWebSocket.rawValue),
        "legacy-websocket: true and websocket: false contradict each other; remove one of them")
    }
    return limits
  }

  private mutating func value(of limit: ServeLimit, _ json: JSONValue, _ pointer: JSONPointer) -> LimitValue? {
    switch limit.kind {
    case .size(let range): size(json, pointer, range).map { .number($0) }
    case .count(let range): count(json, pointer, range).map { .number($0) }
    case .duration: duration(json, pointer).map { .duration($0) }
    case .truth: truth(json, pointer).map { .truth($0) }
    case .rate: rate(json, pointer).map { .text($0) }
    case .headerName: name(json, pointer).map { .text($0) }
    case .origins: webSocketOrigins(json, pointer).map { .texts($0) }
    }
  }

  private mutating func size(_ json: JSONValue, _ pointer: JSONPointer, _ range: ClosedRange<Int>) -> Int? {
    guard let size = bytes(json, pointer) else { return nil }
    guard range.contains(size) else {
      problem(
        .invalidValue, pointer,
        "\(json) is not a size from \(ByteSizeText.print(range.lowerBound)) to \(ByteSizeText.print(range.upperBound)); write one"
      )
      return nil
    }
    return size
  }

  private mutating func rate(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = json.string, text.wholeMatch(of: /(1000000|[1-9][0-9]{0,5})\/[smh]/) != nil else {
      problem(
        .invalidValue, pointer, "\(json) is not a rate; write a number up to 1000000 and a unit, as in 100/s, 600/m or 5000/h")
      return nil
    }
    return text
  }

  private mutating func name(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let name = json.string, HeaderText.isName(name) else {
      problem(.invalidValue, pointer, "\(json) is not a header name; write one that a proxy in front sets")
      return nil
    }
    return name
  }

  private mutating func webSocketOrigins(_ json: JSONValue, _ pointer: JSONPointer) -> [String]? {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of origins")
      return nil
    }
    guard entries.count <= Manifest.CORS.maximumEntries else {
      problem(
        .invalidValue, pointer,
        "this list has \(entries.count) entries, and at most \(Manifest.CORS.maximumEntries) are allowed; use patterns of cors")
      return nil
    }
    return entries.enumerated().compactMap { index, entry in
      let place = pointer.appending(index)
      guard let origin = text(entry, place) else { return nil }
      guard origin == "*" || origin == "null" || origin.contains("://") else {
        problem(
          .invalidValue, place, "\(origin.debugDescription) is not an origin; write one as https://example.org, or * for all")
        return nil
      }
      return origin
    }
  }
}

extension ValueKind<[ServeLimit: LimitValue]> {
  static var limits: Self {
    let rules = #"""
      "dependentRequired": {"rate-burst": ["rate"], "rate-key": ["rate"]},
      "not": {
        "required": ["websocket", "legacy-websocket"],
        "properties": {"websocket": {"const": false}, "legacy-websocket": {"const": true}}
      }
      """#
    let properties = ServeLimit.allCases.map(property).joined(separator: ", ")
    return Self(#""type": "object", "additionalProperties": false, "properties": {\#(properties)}, \#(rules)"#) {
      $0.limits($1, $2)
    }
  }

  private static func property(of limit: ServeLimit) -> String {
    let type =
      switch limit.kind {
      case .size(let range): ##""$ref": "#/$defs/size", "minimum": \##(range.lowerBound), "maximum": \##(range.upperBound)"##
      case .count(let range): #""type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)"#
      case .duration: ##""$ref": "#/$defs/duration""##
      case .truth: #""type": "boolean""#
      case .rate: #""type": "string", "pattern": "^(1000000|[1-9][0-9]{0,5})/[smh]$""#
      case .headerName: ##""$ref": "#/$defs/headerName""##
      case .origins:
        #""type": "array", "maxItems": \#(Manifest.CORS.maximumEntries), "items": {"type": "string", "pattern": "^([*]|null|.*://.*)$"}"#
      }
    let defaultText =
      switch (limit.kind, limit.defaultValue) {
      case (_, nil), (.origins, _): ""
      case (.count, let value?), (.truth, let value?): #", "default": \#(value.text(of: limit.kind))"#
      case (_, let value?): #", "default": "\#(value.text(of: limit.kind))""#
      }
    let description = limit.summary.replacing(" May be repeated.", with: "")
    return #""\#(limit.rawValue)": {\#(type)\#(defaultText), "description": "\#(description)"}"#
  }
}
