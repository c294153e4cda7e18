extension Manifest {
  /// The part of ``schema`` for one upstream.
  static let upstreamSchema = """
    {
      "description": "Endpoints that serve the same schema.",
      "type": "object",
      "required": ["endpoints"],
      "additionalProperties": false,
      "properties": {
        "endpoints": {
          "description": "The servers. A text is a URL.",
          "type": "array", "minItems": 1, "maxItems": 256,
          "items": {
            "oneOf": [
              {"$ref": "#/$defs/endpoint"},
              {
                "type": "object",
                "required": ["url"],
                "additionalProperties": false,
                "properties": {
                  "url": {"$ref": "#/$defs/endpoint"},
                  "weight": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1, "description": "The share of the requests, relative to the other weights."},
                  "backup": {"type": "boolean", "default": false, "description": "Whether it gets requests only if no other endpoint is available."}
                }
              }
            ]
          }
        },
        "balance": {
          "enum": ["least-requests", "round-robin", "random", "hash"], "default": "least-requests",
          "description": "How an endpoint is chosen. least-requests draws two by weight and takes the one with fewer requests under way. hash needs hash-key."
        },
        "hash-key": {
          "type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
          "description": "The header of the request to the upstream whose value chooses the endpoint. A request without it gets any endpoint."
        },
        "resolve": {
          "oneOf": [{"const": "none"}, {"$ref": "#/$defs/duration"}], "default": "10s",
          "description": "The time between two lookups of a host name. Each of its addresses is used. With none, libcurl looks names up."
        },
        "retry": {
          "description": "Retries between the HTTP stages and the endpoints. Mutations are sent again only if they were not sent at all.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "attempts": {"type": "integer", "minimum": 1, "maximum": 10, "default": 2, "description": "The most attempts, the first included. 1 switches retries off."},
            "causes": {
              "description": "The failures after which a request is sent again.",
              "type": "array",
              "items": {"enum": ["connect", "reset", "timeout", 429, 500, 502, 503, 504]},
              "default": ["connect", "reset", 502, 503, 504]
            },
            "per-attempt-timeout": {"oneOf": [{"const": "none"}, {"$ref": "#/$defs/duration"}], "default": "none"},
            "base-delay": {"$ref": "#/$defs/delay", "default": "25ms", "description": "The longest delay before the first retry at the same endpoint. It doubles with each retry. Another endpoint is tried without delay."},
            "maximum-delay": {"$ref": "#/$defs/delay", "default": "250ms", "description": "The longest delay. A longer Retry-After ends the retries."},
            "budget": {"$ref": "#/$defs/share", "default": "20%", "description": "The most retries under way, as a share of the requests under way."},
            "minimum-concurrent": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 3, "description": "The retries under way that are always allowed."}
          }
        },
        "panic": {"$ref": "#/$defs/share", "default": "50%", "description": "If a smaller share of the endpoints is available, all are used. With 0%, requests without an available endpoint get 503."},
        "health": {
          "description": "Checks of each endpoint. Without this key there are none.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "path": {"type": "string", "pattern": "^/[!-~]*$", "description": "The path for GET."},
            "query": {"$ref": "#/$defs/text", "description": "The document for POST. The response must be JSON with data."},
            "interval": {"$ref": "#/$defs/duration", "default": "5s", "description": "The time between two checks, 10 % more or less at random."},
            "timeout": {"$ref": "#/$defs/duration", "default": "2s"},
            "fall": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 3, "description": "The failed checks in a row after which an endpoint is not available."},
            "rise": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 2, "description": "The successful checks in a row after which it is available again."},
            "status": {
              "type": "array", "minItems": 1,
              "items": {
                "oneOf": [
                  {"type": "integer", "minimum": 100, "maximum": 599}, {"type": "string", "pattern": "^[1-5][0-9][0-9]-[1-5][0-9][0-9]$"}
                ]
              },
              "default": ["200-299"]
            }
          },
          "oneOf": [{"required": ["path"]}, {"required": ["query"]}]
        },
        "outliers": {
          "description": "The ejection of endpoints that fail several times in a row. Without this key it is on for two or more endpoints.",
          "oneOf": [
            {"const": "none"},
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "failures": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 5},
                "ejection": {"$ref": "#/$defs/duration", "default": "30s", "description": "The time of the first ejection. It is multiplied by the ejections in a row."},
                "maximum-ejection": {"$ref": "#/$defs/duration", "default": "5m"},
                "maximum-ejected": {"$ref": "#/$defs/share", "default": "50%", "description": "The share of the endpoints that may be ejected at once; always at least one, and never the last available one."}
              }
            }
          ]
        },
        "limits": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "requests": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1024, "description": "The most requests under way. Further ones wait."},
            "waiting": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 1024, "description": "The most requests that wait. Further ones get 503."},
            "connections": {
              "oneOf": [{"const": "none"}, {"type": "integer", "minimum": 1, "maximum": 100000}], "default": "none",
              "description": "The most connections, divided among the endpoints. Each endpoint has at least one."
            }
          }
        },
        "breaker": {
          "description": "If many requests fail, requests get 503 at once. Without this key there is no breaker.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "share": {"$ref": "#/$defs/positiveShare", "default": "50%", "description": "The share of failed requests that opens the breaker."},
            "minimum": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20, "description": "The requests that must have been counted."},
            "within": {"$ref": "#/$defs/duration", "default": "10s"},
            "open": {"$ref": "#/$defs/duration", "default": "5s", "description": "The time after which one request at a time tries the upstream."}
          }
        },
        "tls": {
          "description": "PEM files for TLS connections to the endpoints. They are read again at a reload.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "ca-file": {"$ref": "#/$defs/text", "description": "The certificates to trust instead of those of the host."},
            "certificate": {"$ref": "#/$defs/text", "description": "The certificate of the client."},
            "key": {"$ref": "#/$defs/text", "description": "The key of the certificate."}
          },
          "dependentRequired": {"certificate": ["key"], "key": ["certificate"]}
        }
      },
      "if": {"properties": {"balance": {"const": "hash"}}, "required": ["balance"]},
      "then": {"required": ["hash-key"]}
    }
    """

  /// The part of ``schema`` for one rule.
  static let ruleSchema = """
    {
      "type": "object",
      "required": ["when"],
      "additionalProperties": false,
      "properties": {
        "when": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "operation": {"$ref": "#/$defs/names", "description": "Names of operations. * matches any text, ? one character."},
            "type": {
              "oneOf": [
                {"$ref": "#/$defs/operationType"},
                {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/operationType"}}
              ]
            },
            "path": {
              "description": "Paths of the gateway at which the operation arrived, without patterns.",
              "oneOf": [{"$ref": "#/$defs/path"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/path"}}]
            }
          }
        },
        "chain": {"$ref": "#/$defs/lists"},
        "timeout": {"$ref": "#/$defs/duration", "description": "The time limit instead of that of settings. For a subscription it limits the time to the first result."},
        "upstream": {"$ref": "#/$defs/name", "description": "The upstream instead of main."}
      },
      "anyOf": [{"required": ["chain"]}, {"required": ["timeout"]}, {"required": ["upstream"]}]
    }
    """
}
