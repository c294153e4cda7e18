extension Manifest {
  /// The beginning of the URLs of downloads, up to the slash after the host: https, or http on this machine.
  static let downloadPattern =
    "^(https://[^@/?#]+|http://(localhost|127[.][0-9]+[.][0-9]+[.][0-9]+|\\\\[::1\\\\])(:[0-9]+)?)/"

  /// The part of ``schema`` for `downloads`.
  static let downloadSchema = """
    {
      "description": "Headers and certificate authorities for downloads of plugins with url. The entry with the longest prefix counts.",
      "type": "array",
      "items": {
        "type": "object",
        "required": ["prefix"],
        "additionalProperties": false,
        "properties": {
          "prefix": {
            "type": "string", "pattern": "\(downloadPattern)[!$-~]*$", "not": {"pattern": "[$][{]"},
            "description": "The beginning of the URLs, at least up to the slash after the host."
          },
          "headers": {
            "description": "Headers of the requests. Another host gets none of them after a redirect. Values may contain ${env:NAME} and ${file:path}.",
            "type": "object",
            "propertyNames": {"$ref": "#/$defs/headerName"},
            "additionalProperties": {"type": "string", "not": {"pattern": "[\\\\r\\\\n\\\\u0000]"}}
          },
          "ca-file": {"$ref": "#/$defs/text", "description": "The PEM file with the certificates to trust, instead of the system's."}
        }
      }
    }
    """
}
