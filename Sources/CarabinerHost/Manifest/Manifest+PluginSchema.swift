internal import CarabinerWire

extension Manifest {
  /// The part of ``schema`` that is about an entry of `plugins`.
  static let pluginSchema = """
    {
      "type": "object",
      "required": ["name"],
      "additionalProperties": false,
      "properties": {
        "name": {"$ref": "#/$defs/name", "description": "What lists call it; not the name of a built-in stage."},
        "file": {"$ref": "#/$defs/text", "description": "The .so, relative to the manifest."},
        "ffi": {"$ref": "#/$defs/call"},
        "sha256": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "Refuse any other file."},
        "interceptor": {"$ref": "#/$defs/text", "description": "Which one, if the library has several."},
        "config": {"type": "object", "description": "Checked against the plugin's own schema."},
        "grants": {"type": "array", "uniqueItems": true, "items": {"enum": \(grantableServices)}},
        "library-paths": {
          "type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/text"},
          "description": "Entries of RPATH and RUNPATH, and paths in NEEDED, that the library may have, as readelf -d shows them."
        },
        "on-fault": {
          "type": "string",
          "pattern": "^(fail|skip|open-after-([1-9][0-9]?[0-9]?|1000))$",
          "default": "fail",
          "description": "open-after-5: fail, and after five faults in a row leave it out until it works again."
        },
        "timeout": {"$ref": "#/$defs/duration", "description": "How long one hook may stay pending."},
        "messages-to-clients": {
          "type": "boolean", "default": false,
          "description": "Whether clients of a gateway get the message and the detail of a refusal with the status 400 to 499 or 503."
        },
        "maximum-buffers": {
          "$ref": "#/$defs/size", "default": "256MiB", "description": "How many bytes of buffers it may hold at once."
        },
        "mandatory": {"type": "boolean", "default": false, "description": "No override may switch it off."},
        "enabled": {
          "type": "boolean", "default": true, "description": "Whether it runs, unless CARABINER_ENABLE or CARABINER_DISABLE says otherwise."
        }
      },
      "not": {
        "required": ["mandatory", "enabled"],
        "properties": {"mandatory": {"const": true}, "enabled": {"const": false}}
      },
      "oneOf": [{"required": ["file"]}, {"required": ["ffi"]}],
      "dependentSchemas": {
        "ffi": {
          "properties": {
            "sha256": false, "interceptor": false, "config": false, "grants": false, "on-fault": false, "timeout": false,
            "messages-to-clients": false, "maximum-buffers": false
          }
        }
      }
    }
    """

  private static var grantableServices: JSONValue { .array(HostServices.grantable.sorted().map { .string($0) }) }
}
