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
          "type": "object",
          "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
          "additionalProperties": {"type": "string", "not": {"pattern": "[\\\\r\\\\n\\\\u0000]"}}
        },
        "settings": {"$ref": "#/$defs/settings"},
        "connect": \(connectSchema),
        "serve": {"$ref": "#/$defs/serve"},
        "plugins": {"type": "array", "items": {"$ref": "#/$defs/plugin"}},
        "downloads": \(downloadSchema),
        "built-ins": {"$ref": "#/$defs/builtIns"},
        "chain": {"$ref": "#/$defs/lists"},
        "rules": {
          "description": "Lists and settings for some operations. For each of them, the first rule that matches and has it is used.",
          "type": "array",
          "items": {"$ref": "#/$defs/rule"}
        },
        "fleet": \(fleetSchema)
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
        "settings": {
          "description": "Limits and timeouts of the whole host.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "staging": {
              "enum": ["directory", "memfd"], "default": "memfd",
              "description": "The place of the plugin copies: sealed memory, or files below XDG_RUNTIME_DIR, where debuggers find them."
            },
            "timeout": {"$ref": "#/$defs/duration", "description": "The time limit for one attempt, interceptors included; a retry by a GraphQL stage starts a new one. Without it, each exchange with the upstream may take 30 s. Subscriptions have no limit."},
            "connect-timeout": {"$ref": "#/$defs/duration", "default": "10s"},
            "connections-per-host": {
              "type": "integer", "minimum": 1, "maximum": 100000,
              "description": "The most connections to one server. Further requests wait. Without it there is no limit. It also limits WebSockets to the upstream, one for each set of headers; further ones fail. Without it, there may be 10,000."
            },
            "maximum-head": {"$ref": "#/$defs/size", "default": "256KiB"},
            "maximum-body": {"$ref": "#/$defs/size", "default": "64MiB"},
            "maximum-part": {"$ref": "#/$defs/size", "default": "64MiB", "description": "The largest part of a multipart response. maximum-body limits all deferred parts together; subscriptions have no such limit."},
            "redirect-headers": {
              "type": "array", "items": {"$ref": "#/$defs/headerPattern"},
              "description": "Headers that are sent to another origin after a redirect. Headers that describe the body always are."
            },
            "idle-timeout": {
              "$ref": "#/$defs/duration",
              "description": "The longest time without a result in a multipart response. Heartbeats do not count. Without it there is no limit."
            },
            "maximum-attempts": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10},
            "plugin-retries": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 3},
            "cancel-grace": {"$ref": "#/$defs/delay", "default": "1s"},
            "kept-memory": {
              "$ref": "#/$defs/size", "default": "256MiB",
              "description": "The memory of calls whose plugins did not resume in time. Above this limit, calls that pass plugins fail."
            },
            "breaker-cool-down": {
              "$ref": "#/$defs/duration", "default": "30s", "description": "The time after which a request tries a plugin whose circuit breaker is open."
            },
            "crash-loop": {
              "description": "The reaction to plugins that crash the host repeatedly. Without this key, crashes are not counted.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "after": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 3, "description": "The number of crashes that is too many."},
                "within": {"$ref": "#/$defs/duration", "default": "10m", "description": "The time in which crashes are counted."},
                "then": {
                  "enum": ["skip", "refuse"], "default": "refuse",
                  "description": "skip starts without the plugin, unless it is mandatory; refuse does not start."
                }
              }
            },
            "ca-file": {"$ref": "#/$defs/text", "description": "A PEM file with the certificates to trust instead of the system's."},
            "store-records": {
              "type": "integer", "minimum": 0, "maximum": 100000000, "default": 10000, "description": "The most records of a store in memory. The least recently used are removed."
            },
            "store-bytes": {"$ref": "#/$defs/size", "default": "64MiB", "description": "The most bytes of a store in memory."},
            "store-file-bytes": {
              "$ref": "#/$defs/size", "default": "256MiB",
              "description": "The most bytes of a store in a file, without its log. The values that were received longest ago are removed."
            },
            "store-fields": {
              "type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000,
              "description": "The most fields of a root's record, which has one per list of arguments. The oldest are removed."
            },
            "get-for-queries": {"type": "boolean", "default": false, "description": "Whether queries are sent by GET, so that HTTP caches can answer them."},
            "subscriptions": {
              "enum": ["multipart", "events"], "default": "multipart",
              "description": "The format of subscriptions over HTTP that the upstream is asked for: parts of a multipart response, or events (GraphQL over SSE, distinct connections mode)."
            },
            "client-awareness": {
              "description": "The information about the client program that is sent to the upstream. Without this key, none is sent.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {"$ref": "#/$defs/headerText", "description": "Sent as apollographql-client-name."},
                "version": {"$ref": "#/$defs/headerText", "description": "Sent as apollographql-client-version."},
                "library": {"type": "boolean", "default": true, "description": "Whether extensions.clientLibrary names this library."}
              }
            },
            "transport": {
              "description": "The way in which requests are sent to the upstream.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "engine": {
                  "enum": ["auto", "libcurl"], "default": "auto",
                  "description": "auto sends HTTP/1.1 by Carabiner's own code over connections that libcurl opens, and all else by libcurl: HTTP/2, requests over a proxy, and file uploads. libcurl sends everything by libcurl."
                }
              }
            },
            "worker-user": {
              "type": "string", "pattern": "^([a-z_][a-z0-9_-]{0,31}|[0-9]{1,10}:[0-9]{1,10})$",
              "not": {"pattern": "^(root$|0+:|[0-9]+:0+$)"}, "default": "nobody",
              "description": "The user of workers if the host is root: a name, or the numbers of user and group, such as 65534:65534."
            },
            "websocket": \(webSocketSchema)
          }
        },
        "serve": \(serveSchema),
        "share": {
          "description": "A percentage, such as 5%.",
          "type": "string", "pattern": "^(100([.]0+)?|[0-9]{1,2}([.][0-9]+)?)%$"
        },
        "positiveShare": {"$ref": "#/$defs/share", "pattern": "[1-9]"},
        "headerPattern": {
          "description": "A header name, or the beginning of names and a star.",
          "type": "string", "pattern": "^[!#$%&'+.^_`|~0-9A-Za-z-]+[*]?$"
        },
        "limit": {"type": "integer", "minimum": 0, "maximum": \(Operations.highestLimit)},
        "positiveLimit": {"$ref": "#/$defs/limit", "minimum": 1},
        "headerName": {"type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
        "plugin": \(pluginSchema),
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
                "get-for-hashes": {"type": "boolean", "default": false, "description": "Whether hashes are sent by GET and documents by POST."}
              }
            },
            "store": {"$ref": "#/$defs/store"}
          }
        },
        "store": {
          "description": "The normalized store. The types of the roots are Query, Mutation and Subscription.",
          "type": "object",
          "not": {"required": ["file", "redis"]},
          "additionalProperties": false,
          "properties": {
            "file": {
              "$ref": "#/$defs/text",
              "description": "A SQLite database, relative to the manifest. It is created if it does not exist. Without it the store is in memory."
            },
            "redis": {"$ref": "#/$defs/redisStore"},
            "schema": {
              "$ref": "#/$defs/text",
              "description": "The schema of the server (SDL), relative to the manifest. Without it types are learnt from responses."
            },
            "key-fields": {
              "description": "The fields that identify an object, by type. An empty list for none.",
              "type": "object",
              "propertyNames": {"$ref": "#/$defs/graphqlName"},
              "additionalProperties": {"$ref": "#/$defs/graphqlNames"}
            },
            "default-key-fields": {
              "$ref": "#/$defs/graphqlNames", "default": "id", "description": "The fields that identify an object of any other type."
            },
            "field-policies": {
              "description": "Fields, such as Query.book, whose arguments identify the object that they return.",
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
                    "description": "One argument per key field, in the same order. input.name is a member of an input object."
                  }
                }
              }
            },
            "maximum-ages": {
              "description": "The time for which a value is valid, by type (Book) or field (Book.price). A field wins over its type.",
              "type": "object",
              "propertyNames": {"pattern": "^[_A-Za-z][_0-9A-Za-z]*([.][_A-Za-z][_0-9A-Za-z]*)?$"},
              "additionalProperties": {"$ref": "#/$defs/delay"}
            },
            "default-maximum-age": {"$ref": "#/$defs/delay", "description": "The time for which all other values are valid. Without it there is no limit."},
            "results-with-errors": {"type": "boolean", "default": true, "description": "Whether the data of results with errors is kept."}
          }
        },
        "redisStore": \(redisStoreSchema),
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
        "upstream": \(upstreamSchema),
        "operationType": {"enum": ["query", "mutation", "subscription"]}
      }
    }
    """
}
