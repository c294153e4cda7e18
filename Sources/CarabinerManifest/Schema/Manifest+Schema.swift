internal import Carabiner
internal import CarabinerWire

extension Manifest {
  /// The JSON Schema (draft 2020-12) of manifests, for editors and for other programs that write manifests.
  ///
  /// It describes the shape of a manifest. Only the reader checks rules that depend on the rest of the manifest or on the machine: unique
  /// names, existing stages, the order of stages, and files.
  package static let schema = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Carabiner manifest",
      "description": "The plugins of a host and the order of the stages.",
      "type": "object",
      "required": ["carabiner"],
      "additionalProperties": false,
      "properties": {
        "$schema": {"$ref": "#/$defs/text", "description": "The path of this schema, for editors."},
        "carabiner": {"const": 1, "description": "The version of the manifest format."},
        "protocol": {
          "description": "The protocol of calls. With connect and grpc-web there is only the http list, which is empty by default, and carabiner call sends calls.",
          "enum": ["graphql", "connect", "grpc-web"], "default": "graphql"
        },
        "endpoint": {
          "description": "The URL of the upstream. The command line overrides it. May contain ${env:NAME} and ${file:path}.",
          "type": "string",
          "pattern": "^https?://|[$][{]"
        },
        "upstreams": {
          "description": "Groups of endpoints by name. main serves all operations for which no rule names another one; endpoint: URL means upstreams: {main: {endpoints: [URL]}}.",
          "type": "object",
          "propertyNames": {"$ref": "#/$defs/name"},
          "additionalProperties": {"$ref": "#/$defs/upstream"}
        },
        "headers": {
          "description": "Headers of every request to the upstream. Values may contain ${env:NAME} and ${file:path}.",
          \(ValueKind<HTTPHeaders>.headers.schema)
        },
        "settings": {"$ref": "#/$defs/settings"},
        "connect": {"description": "The settings of calls with protocol: connect or grpc-web.", \(Connect.fields.schema)},
        "serve": {"$ref": "#/$defs/serve"},
        "plugins": {"type": "array", "items": {"$ref": "#/$defs/plugin"}},
        "downloads": {
          "description": "Headers and certificate authorities for downloads of plugins with url. The entry with the longest prefix counts.",
          "type": "array", "items": {\(Download.fields.schema)}
        },
        "built-ins": {"$ref": "#/$defs/builtIns"},
        "chain": {"$ref": "#/$defs/lists"},
        "rules": {
          "description": "Lists and settings for some operations. For each of them, the first rule that matches and has it is used.",
          "type": "array",
          "items": {"$ref": "#/$defs/rule"}
        },
        "fleet": {
          "description": "The roll-out of this manifest to the gateways of a fleet. Only for manifests that carabiner fleet push publishes.",
          \(RolloutKeys.fields.schema)
        }
      },
      "not": {"required": ["endpoint", "upstreams"], "properties": {"upstreams": {"required": ["main"]}}},
      "$defs": {
        "endpoint": {"type": "string", "pattern": "^https?://|[$][{]"},
        "path": {"type": "string", "pattern": "^/[!->@-~]*$"},
        "text": {"type": "string", "minLength": 1},
        "headerText": {"type": "string", "minLength": 1, "not": {"pattern": "[\\\\r\\\\n\\\\u0000]"}},
        "name": {"type": "string", "pattern": "^[a-z0-9-]+$"},
        "names": {
          "oneOf": [{"$ref": "#/$defs/text"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/text"}}]
        },
        "delay": {
          "description": "A number with a unit: 250ms, 1.5s, 2m or 1h. At most 30 days.",
          "type": "string",
          "pattern": "^[0-9]+([.][0-9]+)?(ms|s|m|h)$"
        },
        "duration": {"$ref": "#/$defs/delay", "pattern": "[1-9]"},
        "size": {
          "description": "A number of bytes, or a number with a unit, such as 64MiB. At most 1024GiB.",
          "oneOf": [
            {"type": "integer", "minimum": 1, "maximum": 1099511627776},
            {"type": "string", "allOf": [{"pattern": "^[0-9]+([.][0-9]+)?(B|KiB|MiB|GiB)?$"}, {"pattern": "[1-9]"}]}
          ]
        },
        "settings": {"description": "Limits and timeouts of the whole host.", \(Settings.fields.schema)},
        "serve": {"description": "The settings of carabiner serve.", \(Serve.fields.schema)},
        "share": {
          "description": "A percentage, such as 5%.",
          "type": "string", "pattern": "^(100([.]0+)?|[0-9]{1,2}([.][0-9]+)?)%$"
        },
        "positiveShare": {"$ref": "#/$defs/share", "pattern": "[1-9]"},
        "headerPattern": {
          "description": "A header name, or the beginning of names and a star.",
          "type": "string", "pattern": "^[!#$%&'+.^_`|~0-9A-Za-z-]+[*]?$"
        },
        "headerName": {"type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
        "plugin": {\(Plugin.fields.schema)},
        "call": {
          "description": "A call of one function of an unmodified C library. Its result is written into a request header.",
          "type": "object",
          "required": ["library", "function", "returns", "header", "arguments"],
          "additionalProperties": false,
          "properties": {
            "library": {"$ref": "#/$defs/text"},
            "function": {"$ref": "#/$defs/text"},
            "returns": {"enum": ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "string"]},
            "header": {"type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
            "format": {"enum": ["decimal", "hex", "text"]},
            "arguments": {
              "type": "array",
              "maxItems": 16,
              "items": {
                "type": "object",
                "required": ["type"],
                "additionalProperties": false,
                "properties": {
                  "type": {"enum": ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "string", "pointer"]},
                  "value": {"type": ["number", "string"]},
                  "from": {"enum": ["body", "body-length"]}
                },
                "oneOf": [{"required": ["value"]}, {"required": ["from"]}]
              }
            }
          }
        },
        "builtIns": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "max-retry": {
              "description": "Limits and delays the retries that other stages ask for. It does not start a retry itself.",
              \(MaxRetryInterceptor.Configuration.fields.schema)
            },
            "persisted-queries": {\(AutomaticPersistedQueryInterceptor.Configuration.fields.schema)},
            "store": {
              "description": "The normalized store. The types of the roots are Query, Mutation and Subscription.", \(Store.fields.schema)
            }
          }
        },
        "graphqlName": {"type": "string", "pattern": "^[_A-Za-z][_0-9A-Za-z]*$"},
        "graphqlNames": {
          "oneOf": [
            {"$ref": "#/$defs/graphqlName"}, {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/graphqlName"}}
          ]
        },
        "graphqlPath": {"type": "string", "pattern": "^[_A-Za-z][_0-9A-Za-z]*([.][_A-Za-z][_0-9A-Za-z]*)*$"},
        "graphqlPaths": {
          "oneOf": [
            {"$ref": "#/$defs/graphqlPath"}, {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/graphqlPath"}}
          ]
        },
        "lists": {
          "description": "The stages of each kind, in order.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "graphql": {"$ref": "#/$defs/list"},
            "cache": {"$ref": "#/$defs/list"},
            "http": {"$ref": "#/$defs/list"},
            "parsing": {"$ref": "#/$defs/list", "minItems": 1}
          }
        },
        "list": {
          "type": "array",
          "items": {
            "oneOf": [
              {"$ref": "#/$defs/text"},
              {
                "type": "object",
                "required": ["use"],
                "additionalProperties": false,
                "properties": {
                  "use": {"$ref": "#/$defs/text"},
                  "before": {"$ref": "#/$defs/names"},
                  "after": {"$ref": "#/$defs/names"}
                }
              }
            ]
          }
        },
        "rule": \(ruleSchema),
        "upstream": {"description": "Endpoints that serve the same schema.", \(Upstream.fields.schema)},
        "operationType": {"enum": ["query", "mutation", "subscription"]}
      }
    }
    """
}
