extension Manifest {
  /// The properties of servers, for ``redisStoreSchema`` and ``sharedSchema``.
  static let redisServerProperties = """
    "urls": {
      "description": "redis://HOST:PORT/DB, or rediss:// with TLS. The first server that can be reached is used. User and password have keys of their own.",
      "type": "array", "minItems": 1, "maxItems": \(RedisServers.maximumURLs), "items": {"type": "string", "pattern": "^rediss?://[^@?#/]+(/[0-9]*)?$"}
    },
    "user": {"$ref": "#/$defs/text", "description": "The user; may contain references. Without it the default user logs in."},
    "password": {"$ref": "#/$defs/text", "description": "The password; may contain references."},
    "ca-file": {
      "$ref": "#/$defs/text", "description": "The certificate authorities of the servers (PEM), relative to the manifest. Without it those of the system."
    },
    "certificate": {"$ref": "#/$defs/text", "description": "The certificate of the host for servers that demand one (PEM), relative to the manifest."},
    "key": {"$ref": "#/$defs/text", "description": "The key of the certificate (PEM), relative to the manifest."},
    "cluster": {
      "type": "boolean", "default": false, "description": "Whether the servers are nodes of a Redis cluster. The other nodes are found by themselves. Without spread, all keys with one prefix are on one master. The URLs have no database."
    }
    """

  /// The rules of URLs, for ``redisStoreSchema`` and ``sharedSchema``: in a cluster, all with TLS or none, and without a database.
  static let redisServerRules = """
    "dependentRequired": {"user": ["password"], "certificate": ["key"], "key": ["certificate"]},
    "anyOf": [
      {"properties": {"cluster": {"const": false}}},
      {"properties": {"urls": {"items": {"pattern": "^redis://[^/]+(/0*)?$"}}}},
      {"properties": {"urls": {"items": {"pattern": "^rediss://[^/]+(/0*)?$"}}}}
    ]
    """

  /// The part of ``schema`` for `built-ins.store.redis`.
  static let redisStoreSchema = """
    {
      "description": "Servers of Redis or Valkey that hold the store, for all hosts with the same servers and prefix.",
      "type": "object",
      "required": ["urls"],
      "additionalProperties": false,
      \(redisServerRules),
      "not": {"required": ["spread"], "properties": {"spread": {"const": true}, "cluster": {"const": false}}},
      "properties": {
        \(redisServerProperties),
        "spread": {
          "type": "boolean", "default": false, "description": "Whether the records are spread over all masters of a cluster. Transactions of the store fail then."
        },
        "connections": {"type": "integer", "minimum": 1, "maximum": \(RedisStore.maximumConnections), "default": 1, "description": "The connections for commands."},
        "prefix": {
          "type": "string", "pattern": "^[-0-9A-Za-z]{1,64}$", "description": "The name of the store in the servers. Without it the name of the manifest's file without its suffix."
        },
        "read-budget": {"$ref": "#/$defs/duration", "default": "20ms", "description": "The most time that an operation waits for Redis, at most 10s. Then it goes on as after a miss."},
        "write-queue": {"$ref": "#/$defs/size", "default": "16MiB", "description": "The most bytes of writes that wait for Redis. More are dropped."},
        "time-to-live": {"$ref": "#/$defs/duration", "default": "24h", "description": "How long records are kept whose type has no maximum age."},
        "near": {
          "description": "Records that are also kept in memory. Changes of other hosts remove them.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "records": {
              "type": "integer", "minimum": 0, "maximum": \(RedisStore.maximumNearRecords), "default": 10000, "description": "The most records in memory; 0 for none."
            },
            "maximum-age": {"$ref": "#/$defs/duration", "default": "5s", "description": "How long a record in memory is used, at most time-to-live."}
          }
        }
      }
    }
    """
}
