internal import CarabinerWire

extension Manifest {
  /// The JSON Schema (draft 2020-12) of manifests, for editors and for other programs that write manifests.
  ///
  /// It says what a manifest may look like. What depends on the rest of the manifest or on the machine — unique names, stages
  /// that exist, the order of assertions, files that are there — only the reader checks.
  package static let schema = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Carabiner manifest",
      "description": "Which plugins a host loads, and in which order the stages of a request stand.",
      "type": "object",
      "required": ["carabiner"],
      "additionalProperties": false,
      "properties": {
        "$schema": {"$ref": "#/$defs/text", "description": "Where this schema is, for editors."},
        "carabiner": {"const": 1, "description": "The version of the manifest's language."},
        "endpoint": {
          "description": "Where requests go unless the command line says otherwise; may hold ${env:NAME} and ${file:path}.",
          "type": "string",
          "pattern": "^https?://|[$][{]"
        },
        "headers": {
          "description": "Header fields of every request; values may hold ${env:NAME} and ${file:path}.",
          "type": "object",
          "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
          "additionalProperties": {"type": "string", "not": {"pattern": "[\\\\r\\\\n\\\\u0000]"}}
        },
        "settings": {"$ref": "#/$defs/settings"},
        "serve": {"$ref": "#/$defs/serve"},
        "plugins": {"type": "array", "items": {"$ref": "#/$defs/plugin"}},
        "built-ins": {"$ref": "#/$defs/builtIns"},
        "chain": {"$ref": "#/$defs/lists"},
        "rules": {
          "description": "Other lists for some operations; of each list the first rule that matches and names it wins.",
          "type": "array",
          "items": {"$ref": "#/$defs/rule"}
        }
      },
      "$defs": {
        "text": {"type": "string", "minLength": 1},
        "headerText": {"type": "string", "minLength": 1, "not": {"pattern": "[\\\\r\\\\n\\\\u0000]"}},
        "name": {"type": "string", "pattern": "^[a-z0-9-]+$"},
        "names": {
          "oneOf": [{"$ref": "#/$defs/text"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/text"}}]
        },
        "delay": {
          "description": "A number with its unit, as in 250ms, 1.5s, 2m or 1h; at most 30 days.",
          "type": "string",
          "pattern": "^[0-9]+([.][0-9]+)?(ms|s|m|h)$"
        },
        "duration": {"$ref": "#/$defs/delay", "pattern": "[1-9]"},
        "size": {
          "description": "A number of bytes, or a text with a unit, as in 64MiB; at most 1024GiB.",
          "oneOf": [
            {"type": "integer", "minimum": 1, "maximum": 1099511627776},
            {"type": "string", "allOf": [{"pattern": "^[0-9]+([.][0-9]+)?(B|KiB|MiB|GiB)?$"}, {"pattern": "[1-9]"}]}
          ]
        },
        "settings": {
          "description": "Limits and timeouts for the whole host.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "staging": {
              "enum": ["directory", "memfd"], "default": "memfd",
              "description": "Where the copies of plugins are that run: in sealed memory, or below XDG_RUNTIME_DIR, where debuggers find them."
            },
            "timeout": {"$ref": "#/$defs/duration", "description": "For a request with all its retries; without it no limit."},
            "connect-timeout": {"$ref": "#/$defs/duration", "default": "10s"},
            "connections-per-host": {
              "type": "integer", "minimum": 1, "maximum": 100000,
              "description": "How many connections a server gets at most; requests beyond wait for one. Without it no limit."
            },
            "maximum-head": {"$ref": "#/$defs/size", "default": "256KiB"},
            "maximum-body": {"$ref": "#/$defs/size", "default": "64MiB"},
            "maximum-part": {"$ref": "#/$defs/size", "default": "64MiB", "description": "Of one part of a response; deferred parts together may have maximum-body, the parts of a subscription have no limit."},
            "redirect-headers": {
              "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
              "description": "Headers that follow a redirect to another origin, beside those that describe the body; without it none."
            },
            "idle-timeout": {
              "$ref": "#/$defs/duration",
              "description": "How long a response in parts may go without a result, whatever signs of life come; without it no limit."
            },
            "maximum-attempts": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10},
            "plugin-retries": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 3},
            "cancel-grace": {"$ref": "#/$defs/delay", "default": "1s"},
            "kept-memory": {
              "$ref": "#/$defs/size", "default": "256MiB",
              "description": "Of calls whose plugins did not resume in time; while they hold more, calls that pass plugins fail."
            },
            "breaker-cool-down": {
              "$ref": "#/$defs/duration", "default": "30s", "description": "How long an open circuit breaker waits before a request tries."
            },
            "crash-loop": {
              "description": "What is done about plugins that kill the host again and again; nothing unless this is here.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "after": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 3, "description": "How many crashes are too many."},
                "within": {"$ref": "#/$defs/duration", "default": "10m", "description": "Within which time they count."},
                "then": {
                  "enum": ["skip", "refuse"], "default": "refuse",
                  "description": "Start without the plugin, unless it is mandatory, or do not start."
                }
              }
            },
            "ca-file": {"$ref": "#/$defs/text", "description": "Certificates to trust instead of the system's."},
            "store-records": {
              "type": "integer", "minimum": 0, "maximum": 100000000, "default": 10000, "description": "Of a store in memory."
            },
            "store-bytes": {"$ref": "#/$defs/size", "default": "64MiB", "description": "Of a store in memory."},
            "store-fields": {
              "type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000,
              "description": "Of a root's record, which has one for each list of arguments; the oldest are dropped."
            },
            "get-for-queries": {"type": "boolean", "default": false, "description": "Queries by GET, so that caches can answer."},
            "client-awareness": {
              "description": "What servers are told about the program that asks; nothing unless this is here.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {"$ref": "#/$defs/headerText", "description": "Sent as apollographql-client-name."},
                "version": {"$ref": "#/$defs/headerText", "description": "Sent as apollographql-client-version."},
                "library": {"type": "boolean", "default": true, "description": "Name this library in the extensions."}
              }
            },
            "websocket": \(webSocketSchema)
          }
        },
        "serve": \(serveSchema),
        "share": {
          "description": "A part of a whole, as in 5%.",
          "type": "string", "pattern": "^(100([.]0+)?|[0-9]{1,2}([.][0-9]+)?)%$"
        },
        "positiveShare": {"$ref": "#/$defs/share", "pattern": "[1-9]"},
        "headerPattern": {
          "description": "A name, or the beginning of names and a star.",
          "type": "string", "pattern": "^[!#$%&'+.^_`|~0-9A-Za-z-]+[*]?$"
        },
        "plugin": \(pluginSchema),
        "call": {
          "description": "A call of one function of an unmodified C library, whose result goes into a header.",
          "type": "object",
          "required": ["library", "function", "returns", "header"],
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
              "description": "Limits and delays the retries that other stages ask for; by itself it retries nothing.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "maximum-retries": {"type": "integer", "minimum": 0, "maximum": 1000},
                "base-delay": {"$ref": "#/$defs/delay"},
                "multiplier": {"type": "number", "minimum": 1, "maximum": 100},
                "maximum-delay": {"$ref": "#/$defs/delay"},
                "exponential-backoff": {"type": "boolean"},
                "jitter": {"type": "boolean"}
              }
            },
            "persisted-queries": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "enabled": {"type": "boolean", "default": false},
                "get-for-hashes": {"type": "boolean", "default": false, "description": "Hashes by GET, documents by POST."}
              }
            },
            "store": {"$ref": "#/$defs/store"}
          }
        },
        "store": {
          "description": "Where results are kept, and how. The types of the roots are Query, Mutation and Subscription.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "file": {
              "$ref": "#/$defs/text",
              "description": "A SQLite database, relative to the manifest, made if it is not there; without it records are in memory."
            },
            "schema": {
              "$ref": "#/$defs/text",
              "description": "The server's schema (SDL), relative to the manifest; without it types are learnt from responses."
            },
            "key-fields": {
              "description": "The fields that name an object, by type; an empty list for none.",
              "type": "object",
              "propertyNames": {"$ref": "#/$defs/graphqlName"},
              "additionalProperties": {"$ref": "#/$defs/graphqlNames"}
            },
            "default-key-fields": {
              "$ref": "#/$defs/graphqlNames", "default": "id", "description": "The fields that name an object of any other type."
            },
            "field-policies": {
              "description": "Fields, as in Query.book, whose arguments name the object they bring.",
              "type": "object",
              "propertyNames": {"pattern": "^[_A-Za-z][_0-9A-Za-z]*[.][_A-Za-z][_0-9A-Za-z]*$"},
              "additionalProperties": {
                "type": "object",
                "required": ["type", "arguments"],
                "additionalProperties": false,
                "properties": {
                  "type": {"$ref": "#/$defs/graphqlName"},
                  "arguments": {
                    "$ref": "#/$defs/graphqlPaths", "minItems": 1,
                    "description": "One for each key field, in their order; input.name for a member of an input object."
                  }
                }
              }
            },
            "maximum-ages": {
              "description": "How long a value counts, by type, as in Book, or field, as in Book.price; the field wins.",
              "type": "object",
              "propertyNames": {"pattern": "^[_A-Za-z][_0-9A-Za-z]*([.][_A-Za-z][_0-9A-Za-z]*)?$"},
              "additionalProperties": {"$ref": "#/$defs/delay"}
            },
            "default-maximum-age": {"$ref": "#/$defs/delay", "description": "How long any other value counts; without it for ever."},
            "results-with-errors": {"type": "boolean", "default": true, "description": "Keep the data of results that carry errors."}
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
          "description": "The stages of each kind; the list is the order.",
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
        "rule": {
          "type": "object",
          "required": ["when", "chain"],
          "additionalProperties": false,
          "properties": {
            "when": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "operation": {"$ref": "#/$defs/names", "description": "Names; * stands for any text, ? for one character."},
                "type": {
                  "oneOf": [
                    {"$ref": "#/$defs/operationType"},
                    {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/operationType"}}
                  ]
                }
              }
            },
            "chain": {"$ref": "#/$defs/lists"}
          }
        },
        "operationType": {"enum": ["query", "mutation", "subscription"]}
      }
    }
    """
}
