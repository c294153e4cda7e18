extension Manifest {
  /// The part of ``schema`` that is about `settings: {websocket: …}`.
  static let webSocketSchema = """
    {
      "description": "Where and how subscriptions go over a WebSocket; without it they go over HTTP.",
      "type": "object",
      "required": ["url"],
      "additionalProperties": false,
      "properties": {
        "url": {"type": "string", "pattern": "^wss?://|[$][{]", "description": "May hold ${env:NAME} and ${file:path}."},
        "protocol": {"enum": ["graphql-transport-ws", "graphql-ws"], "default": "graphql-transport-ws"},
        "connection-init": {
          "type": "object",
          "description": "The payload of connection_init; texts may hold ${env:NAME} and ${file:path}."
        },
        "acknowledgement-timeout": {"$ref": "#/$defs/duration", "default": "10s"},
        "ping-interval": {"$ref": "#/$defs/duration", "description": "Without it the server is not pinged."},
        "maximum-message": {"$ref": "#/$defs/size", "default": "64MiB"},
        "reconnects": {
          "type": "integer", "minimum": 0, "maximum": 1000, "default": 5,
          "description": "How often a lost connection is opened again before its operations fail."
        }
      }
    }
    """
}
