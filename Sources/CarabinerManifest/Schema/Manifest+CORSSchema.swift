extension Manifest {
  /// The part of ``schema`` for `serve.cors`.
  static let corsSchema = """
    {
      "description": "Pages of other origins that may use the gateway in browsers (CORS). Without it, browsers refuse them.",
      "type": "object",
      "required": ["origins"],
      "additionalProperties": false,
      "properties": {
        "origins": {
          "type": "array", "minItems": 1, "maxItems": \(CORS.maximumEntries), "uniqueItems": true,
          "items": {"type": "string", "pattern": "^([*]|[A-Za-z][A-Za-z0-9+.-]*://([*][.])?([A-Za-z0-9_.-]+|\\\\[[0-9A-Fa-f:.]+\\\\])(:[0-9]+)?)$"},
          "description": "Origins such as https://app.example.org, https://*.example.org for all subdomains, or * for all. They may also open WebSockets."
        },
        "headers": {
          "type": "array", "maxItems": \(CORS.maximumEntries), "items": {"$ref": "#/$defs/headerName"},
          "description": "Request headers that pages may set. Without it, all headers that a browser asks for."
        },
        "expose": {
          "type": "array", "maxItems": \(CORS.maximumEntries), "items": {"$ref": "#/$defs/headerName"},
          "description": "Response headers that pages may read."
        },
        "credentials": {
          "type": "boolean", "default": false,
          "description": "Whether browsers may send cookies and other credentials. Not with the origin *."
        },
        "maximum-age": {
          "$ref": "#/$defs/duration", "default": "10m", "description": "The time that a browser may keep the answer to a preflight, at most 24h."
        }
      },
      "not": {
        "required": ["credentials", "origins"],
        "properties": {"credentials": {"const": true}, "origins": {"contains": {"const": "*"}}}
      }
    }
    """
}
