extension Manifest {
  /// The part of ``schema`` that is about `serve`.
  static let serveSchema = """
    {
      "description": "What carabiner serve does with the requests of others.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "forward-headers": {
          "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
          "description": "Fields of a client's request that go on to the upstream; none does by itself."
        },
        "return-headers": {
          "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
          "description": "Fields of the upstream's answer that go back to the client; none does by itself."
        },
        "connection-init-headers": {
          "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
          "description": "Fields that a client of a WebSocket may add in connection_init; none by default, and never one of its handshake."
        },
        "cache-policy": {
          "enum": ["cacheFirst", "networkFirst", "networkOnly", "cacheOnly", "cacheAndNetwork"], "default": "networkOnly",
          "description": "All clients share one store, so anything but networkOnly is for answers that are the same for everybody."
        },
        "canary": {
          "description": "A new generation takes a share of the operations first, and all if nothing speaks against it.",
          "type": "object",
          "required": ["share"],
          "additionalProperties": false,
          "properties": {
            "share": {"$ref": "#/$defs/positiveShare"},
            "for": {"$ref": "#/$defs/duration", "default": "10m"},
            "key": {
              "type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
              "description": "The request field whose value decides who gets it; without it the client's address."
            },
            "error-increase": {"$ref": "#/$defs/share", "default": "2%"},
            "latency-ratio": {"type": "number", "minimum": 1, "maximum": 1000, "default": 2},
            "minimum-operations": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 50}
          }
        },
        "shadow": {
          "description": "A new generation runs copies of a share of the queries; results are compared and never returned.",
          "type": "object",
          "required": ["share"],
          "additionalProperties": false,
          "properties": {
            "share": {"$ref": "#/$defs/positiveShare"},
            "upstream": {"enum": ["recorded", "live"], "default": "recorded"}
          }
        }
      },
      "not": {"required": ["canary", "shadow"]}
    }
    """
}
