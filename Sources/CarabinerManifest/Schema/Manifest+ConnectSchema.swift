extension Manifest {
  /// The part of ``schema`` for `connect`.
  static let connectSchema = """
    {
      "description": "The settings of calls with protocol: connect or grpc-web.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "codec": {"enum": ["json", "proto"], "default": "json", "description": "The notation of messages."},
        "get": {
          "description": "The messages that are sent by GET, if a call has no side effects: never, always, or up to this size. gRPC-Web has no GET.",
          "default": "never",
          "oneOf": [{"enum": ["never", "always"]}, {"$ref": "#/$defs/size"}]
        },
        "compress-from": {"$ref": "#/$defs/size", "description": "The size from which messages are compressed with gzip. Without it they are not."},
        "timeout": {"$ref": "#/$defs/duration", "description": "The time limit of a call, interceptors included. The server receives it too. Without it there is no limit."}
      }
    }
    """
}
