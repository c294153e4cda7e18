extension Manifest {
  /// The part of ``schema`` for `settings: {websocket: …}`.
  static let webSocketSchema = """
    {
      "description": "A WebSocket for subscriptions. Without it they use HTTP.",
      "type": "object",
      "required": ["url"],
      "additionalProperties": false,
      "properties": {
        "url": {"type": "string", "pattern": "^wss?://|[$][{]", "description": "The URL. May contain ${env:NAME} and ${file:path}."},
        "protocol": {"enum": ["graphql-transport-ws", "graphql-ws"], "default": "graphql-transport-ws"},
        "connection-init": {
          "type": "object",
          "description": "The payload of connection_init. Texts may contain ${env:NAME} and ${file:path}."
        },
        "acknowledgement-timeout": {"$ref": "#/$defs/duration", "default": "10s"},
        "ping-interval": {"$ref": "#/$defs/duration", "description": "The time between pings. Without it the server is not pinged."},
        "maximum-message": {"$ref": "#/$defs/size", "default": "64MiB"},
        "reconnects": {
          "type": "integer", "minimum": 0, "maximum": 1000, "default": 5,
          "description": "The number of attempts to open a lost connection again."
        }
      }
    }
    """
}
