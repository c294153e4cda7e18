extension Manifest {
  /// The part of ``schema`` for one rule.
  static let ruleSchema = """
    {
      "type": "object",
      "required": ["when"],
      "additionalProperties": false,
      "properties": {
        "when": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "operation": {"$ref": "#/$defs/names", "description": "Names of operations. * matches any text, ? one character."},
            "type": {
              "oneOf": [
                {"$ref": "#/$defs/operationType"},
                {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/operationType"}}
              ]
            },
            "path": {
              "description": "Paths of the gateway at which the operation arrived, without patterns.",
              "oneOf": [{"$ref": "#/$defs/path"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/path"}}]
            }
          }
        },
        "chain": {"$ref": "#/$defs/lists"},
        "timeout": {"$ref": "#/$defs/duration", "description": "The time limit instead of that of settings. For a subscription it limits the time to the first result."},
        "upstream": {"$ref": "#/$defs/name", "description": "The upstream instead of main."}
      },
      "anyOf": [{"required": ["chain"]}, {"required": ["timeout"]}, {"required": ["upstream"]}]
    }
    """
}
