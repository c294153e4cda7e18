internal import CarabinerWire

extension Manifest {
  /// The part of ``schema`` for `serve.operations`.
  static let operationsSchema = """
    {
      "description": "The operations that clients may run. Without it, all.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "allow": {
          "description": "A list of operations.",
          "type": "object",
          "required": ["files", "mode"],
          "additionalProperties": false,
          "properties": {
            "files": {
              "type": "array", "minItems": 1, "maxItems": \(AllowList.maximumFiles), "items": {"$ref": "#/$defs/text"},
              "description": "Files with operations: Apollo's persisted query manifest, version 1, or a JSON object of texts by id. At most 64 MiB each."
            },
            "mode": {
              "enum": ["audit", "document", "id"],
              "description": "audit runs all operations and counts those that are not listed. document runs listed texts and ids. id runs only ids."
            }
          }
        },
        "limits": {
          "description": "Limits for the size of operations. Fragments count where they are spread.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "depth": {"$ref": "#/$defs/positiveLimit", "description": "The most nested fields."},
            "fields": {"$ref": "#/$defs/positiveLimit", "description": "The most fields."},
            "root-fields": {"$ref": "#/$defs/positiveLimit", "description": "The most fields of the outermost selection set."},
            "aliases": {"$ref": "#/$defs/limit", "description": "The most aliases."},
            "directives": {"$ref": "#/$defs/limit", "description": "The most directives."},
            "cost": {
              "$ref": "#/$defs/positiveLimit",
              "description": "The highest cost: 1 for each field, times the product of list-arguments of the fields above."
            },
            "tokens": {
              "type": "integer", "minimum": 1, "maximum": \(GraphQLLimits.defaultMaximumTokens), "default": \(OperationLimits.defaultTokens),
              "description": "The most tokens of a document. Without limits, \(GraphQLLimits.defaultMaximumTokens)."
            },
            "list-arguments": {
              "type": "array", "maxItems": \(Operations.maximumListArguments), "default": ["first", "last", "limit"],
              "items": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
              "description": "The arguments whose values multiply the cost of the fields below."
            },
            "warn-only": {
              "type": "boolean", "default": false, "description": "Whether operations above a limit run and are only counted."
            }
          }
        },
        "introspection": {"type": "boolean", "default": true, "description": "Whether clients may ask for __schema and __type."},
        "keep-descriptions": {"type": "boolean", "default": false, "description": "Whether the upstream gets the descriptions of operations, fragments and variables. Servers with an older grammar than that of September 2025 refuse them."}
      }
    }
    """
}
