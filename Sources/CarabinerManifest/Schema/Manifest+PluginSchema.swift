internal import CarabinerWire

extension Manifest {
  /// The part of ``schema`` for an entry of `plugins`.
  static let pluginSchema = """
    {
      "type": "object",
      "required": ["name"],
      "additionalProperties": false,
      "properties": {
        "name": {"$ref": "#/$defs/name", "description": "The name in lists; not the name of a built-in stage."},
        "file": {"$ref": "#/$defs/text", "description": "The .so file, relative to the manifest."},
        "url": {
          "type": "string", "pattern": "\(Download.pattern)[!$-~]+$", "not": {"pattern": "[$][{]"},
          "description": "The URL of the .so file, instead of file: https, or http on this machine. It needs sha256."
        },
        "ffi": {"$ref": "#/$defs/call"},
        "sha256": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "The digest of the file. Any other file is refused."},
        "interceptor": {"$ref": "#/$defs/text", "description": "The id of the interceptor, if the library has several."},
        "config": {"type": "object", "description": "The configuration, checked against the plugin's own schema."},
        "grants": {"type": "array", "uniqueItems": true, "items": {"enum": \(grantableServices)}},
        "library-paths": {
          "type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/text"},
          "description": "Allowed entries of RPATH and RUNPATH, and paths in NEEDED, as readelf -d shows them."
        },
        "on-fault": {
          "type": "string",
          "pattern": "^(fail|skip|open-after-([1-9][0-9]?[0-9]?|1000))$",
          "default": "fail",
          "description": "The effect of a fault on a request: fail; skip the plugin; open-after-5: fail, and skip the plugin after five faults in a row."
        },
        "timeout": {"$ref": "#/$defs/duration", "description": "The longest time that one hook may be suspended."},
        "messages-to-clients": {
          "type": "boolean", "default": false,
          "description": "Whether clients get message and detail of a rejection with a status of 400 to 499 or 503."
        },
        "maximum-buffers": {
          "$ref": "#/$defs/size", "default": "256MiB", "description": "The most bytes of buffers that the plugin may hold."
        },
        "mandatory": {"type": "boolean", "default": false, "description": "Whether the plugin cannot be switched off."},
        "enabled": {
          "type": "boolean", "default": true, "description": "Whether the plugin runs. CARABINER_ENABLE and CARABINER_DISABLE override it."
        },
        "isolation": {
          "description": "The process that the plugin runs in: the host's, or a confined one. CARABINER_ISOLATE overrides in-process.",
          "default": "in-process",
          "oneOf": [
            {"enum": ["in-process", "worker"]},
            {
              "description": "A worker is a confined process. Entries of a group share it and must have the same values of all other keys.",
              \(WorkerSettings.fields.schema)
            }
          ]
        }
      },
      "not": {
        "required": ["mandatory", "enabled"],
        "properties": {"mandatory": {"const": true}, "enabled": {"const": false}}
      },
      "oneOf": [{"required": ["file"]}, {"required": ["url"]}, {"required": ["ffi"]}],
      "dependentSchemas": {
        "url": {"required": ["sha256"]},
        "ffi": {
          "properties": {
            "sha256": false, "interceptor": false, "config": false, "grants": false, "on-fault": false, "timeout": false,
            "messages-to-clients": false, "maximum-buffers": false, "isolation": false
          }
        }
      }
    }
    """

  private static var grantableServices: JSONValue { .array(Plugin.grantableServices.sorted().map { .string($0) }) }
}
