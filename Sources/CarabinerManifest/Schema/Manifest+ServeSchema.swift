extension Manifest {
  /// The part of ``schema`` for `serve`.
  static let serveSchema = """
    {
      "description": "The settings of carabiner serve.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "forward-headers": {
          "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
          "description": "Request headers that are sent to the upstream. Without it none is. Headers that the manifest sets keep their value."
        },
        "return-headers": {
          "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
          "description": "Response headers of the upstream that are returned to the client. Without it none is."
        },
        "connection-init-headers": {
          "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
          "description": "Headers that a WebSocket client may add in connection_init. Headers of the handshake cannot be replaced."
        },
        "cache-policy": {
          "enum": ["cacheFirst", "networkFirst", "networkOnly", "cacheOnly", "cacheAndNetwork"], "default": "networkOnly",
          "description": "The use of the store. All clients share it, so other policies are for results that are the same for all clients."
        },
        "canary": {
          "description": "A new generation takes a share of the operations first. It takes over if it has no more errors and is not slower.",
          "type": "object",
          "required": ["share"],
          "additionalProperties": false,
          "properties": {
            "share": {"$ref": "#/$defs/positiveShare"},
            "for": {"$ref": "#/$defs/duration", "default": "10m"},
            "key": {
              "type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
              "description": "The request header whose value assigns a client to a generation. Without it, the client's address does."
            },
            "error-increase": {"$ref": "#/$defs/share", "default": "2%"},
            "latency-ratio": {"type": "number", "minimum": 1, "maximum": 1000, "default": 2},
            "minimum-operations": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 50}
          }
        },
        "shadow": {
          "description": "A new generation runs copies of a share of the queries. Results are compared and never returned.",
          "type": "object",
          "required": ["share"],
          "additionalProperties": false,
          "properties": {
            "share": {"$ref": "#/$defs/positiveShare"},
            "upstream": {"enum": ["recorded", "live"], "default": "recorded"}
          }
        },
        "cors": \(corsSchema),
        "operations": \(operationsSchema),
        "compression": \(compressionSchema),
        "paths": {
          "type": "array", "minItems": 1, "maxItems": \(ServePaths.maximum), "uniqueItems": true, "default": ["\(ServePaths.usual)"],
          "items": {"type": "string", "pattern": "^/[!-\\"$->@-~]*$", "not": {"enum": ["/healthz", "/readyz", "/metrics"]}},
          "description": "The exact paths at which operations are served. Rules may name them, as when: {path: /public/graphql}."
        },
        "limits": \(limitsSchema),
        "listeners": \(listenersSchema),
        "shared": \(sharedSchema),
        "idempotency": \(idempotencySchema),
        "ready": {
          "description": "The conditions of /readyz beside a serving generation.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "upstream": {
              "type": "boolean", "default": false,
              "description": "Whether an endpoint of main must be available. If all gateways share a failed upstream, none of them is ready then."
            }
          }
        },
        "trusted-proxies": {
          "type": "array", "maxItems": \(Serve.maximumProxies), "uniqueItems": true,
          "items": {"type": "string", "pattern": "^([0-9.]+(/[0-9]{1,2})?|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?)$"},
          "description": "Networks of proxies in front of the gateway, such as 10.0.0.0/8. The client of a request from one of them is the rightmost address of X-Forwarded-For that is in none of them."
        },
        "forwarded-fields": {
          "type": "boolean", "default": false,
          "description": "Whether the upstream gets X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host."
        }
      },
      "dependentRequired": {"idempotency": ["shared"]},
      "not": {"required": ["canary", "shadow"]}
    }
    """
}
