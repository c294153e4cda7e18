extension Manifest {
  /// The part of ``schema`` for `serve.shared`.
  static let sharedSchema = """
    {
      "description": "Servers of Redis or Valkey for state that gateways share: the rates of clients, and the keys of mutations.",
      "type": "object",
      "required": ["urls"],
      "additionalProperties": false,
      \(redisServerRules),
      "properties": {
        \(redisServerProperties),
        "prefix": {
          "type": "string", "pattern": "^[-0-9A-Za-z]{1,64}$", "description": "The name of the state in the servers. Without it the name of the manifest's file without its suffix."
        },
        "sync": {
          "$ref": "#/$defs/duration", "default": "100ms", "description": "How often gateways exchange the rates of clients, 10ms to 10s. No request waits for it."
        },
        "budget": {
          "$ref": "#/$defs/duration", "default": "1s", "description": "The most time that a mutation with an idempotency key waits for the servers, 1ms to 10s."
        }
      }
    }
    """

  /// The part of ``schema`` for `serve.idempotency`.
  static let idempotencySchema = """
    {
      "description": "Mutations run once for each key that a client chooses, and their answer is repeated. Needs shared. Without it, the header has no meaning.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "header": {
          "type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "default": "idempotency-key", "description": "The request header with the key: 1 to 255 visible ASCII characters."
        },
        "keep": {"$ref": "#/$defs/duration", "default": "24h", "description": "How long a key and its answer are kept, 5m to 720h."},
        "body": {"$ref": "#/$defs/size", "default": "1MiB", "description": "The largest answer that is kept, at most 16MiB. A larger one is not repeated, and the mutation does not run again."},
        "on-unavailable": {
          "enum": ["refuse", "run"], "default": "refuse",
          "description": "Whether mutations with a key are refused with 503 while the servers are away, or run without protection."
        }
      }
    }
    """
}
