internal import CarabinerFleet

extension Manifest {
  /// The part of ``schema`` for `fleet`.
  static let fleetSchema = """
    {
      "description": "The roll-out of this manifest to the gateways of a fleet. Only for manifests that carabiner fleet push publishes.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "stages": {
          "description": "The shares of the gateways that get the manifest, one after the other. They grow, and the last one is 100%.",
          "type": "array", "minItems": 1, "maxItems": \(RolloutPlan.maximumStages), "default": ["10%", "50%", "100%"],
          "items": {
            "type": "string", "pattern": "^(100([.]0{1,2})?|[0-9]{1,2}([.][0-9]{1,2})?)%$", "not": {"pattern": "^[0.]+%$"}
          }
        },
        "hold": {
          "$ref": "#/$defs/delay", "default": "10m",
          "description": "The time for which all gateways of a stage serve the manifest before the next stage begins."
        },
        "halt-after": {
          "type": "integer", "minimum": 1, "maximum": \(RolloutPlan.maximumFailures), "default": 1,
          "description": "The number of gateways that fail with the manifest before the roll-out halts."
        },
        "on-halt": {
          "enum": ["revert", "stay"], "default": "revert",
          "description": "The effect of a halt on gateways that serve the manifest: revert returns to the stable one, stay keeps it."
        },
        "promote": {
          "enum": ["nodes", "operator"], "default": "nodes",
          "description": "The party that makes the manifest the stable one after the last stage: the gateways, or carabiner fleet promote."
        }
      }
    }
    """
}
