extension Manifest {
  /// The part of ``schema`` for `serve.limits`.
  static let limitsSchema = """
    {
      "description": "Limits for clients. Flags of carabiner serve with the same names replace them. A reload changes them for requests and connections that begin later.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        \(ServeLimit.allCases.map(limit).joined(separator: ",\n    "))
      },
      "dependentRequired": {"rate-burst": ["rate"], "rate-key": ["rate"]},
      "not": {
        "required": ["websocket", "legacy-websocket"],
        "properties": {"websocket": {"const": false}, "legacy-websocket": {"const": true}}
      }
    }
    """

  private static func limit(_ limit: ServeLimit) -> String {
    let type =
      switch limit.kind {
      case .size(let range): ##""$ref": "#/$defs/size", "minimum": \##(range.lowerBound), "maximum": \##(range.upperBound)"##
      case .count(let range): #""type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)"#
      case .duration: ##""$ref": "#/$defs/duration""##
      case .truth: #""type": "boolean""#
      case .rate: #""type": "string", "pattern": "^(1000000|[1-9][0-9]{0,5})/[smh]$""#
      case .headerName: ##""$ref": "#/$defs/headerName""##
      case .origins:
        #""type": "array", "maxItems": \#(CORS.maximumEntries), "items": {"type": "string", "pattern": "^([*]|null|.*://.*)$"}"#
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
