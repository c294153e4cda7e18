extension Manifest {
  /// The part of ``schema`` for `serve.compression`.
  static let compressionSchema = """
    {
      "description": "Compression of whole responses. Without it none is, because answers may hold secrets beside text that a client chose.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "encodings": {
          "type": "array", "minItems": 1, "uniqueItems": true, "items": {"enum": ["zstd", "gzip"]}, "default": ["zstd", "gzip"],
          "description": "The encodings, the preferred one first."
        },
        "minimum": {"$ref": "#/$defs/size", "default": "1KiB", "description": "The smallest body that is compressed."},
        "level": {
          "type": "integer", "minimum": 1, "maximum": 9, "default": 1, "description": "The level, from fast to small."
        }
      }
    }
    """
}
