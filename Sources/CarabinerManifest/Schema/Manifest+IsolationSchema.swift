extension Manifest {
  /// The part of ``schema`` for `isolation` of an entry of `plugins`.
  static let isolationSchema = """
    {
      "description": "The process that the plugin runs in: the host's, or a confined one. CARABINER_ISOLATE overrides in-process.",
      "default": "in-process",
      "oneOf": [
        {"enum": ["in-process", "worker"]},
        {
          "description": "A worker is a confined process. Entries of a group share it and must have the same values of all other keys.",
          "type": "object",
          "required": ["mode"],
          "additionalProperties": false,
          "properties": {
            "mode": {"enum": ["in-process", "worker"], "description": "All other keys need worker."},
            "group": {"$ref": "#/$defs/name", "description": "Entries with the same group share their processes."},
            "workers": {
              "type": "integer", "minimum": 1, "maximum": 16, "default": 1,
              "description": "The number of processes. Each has instances of its own, so caches and limits count per process."
            },
            "lanes": {
              "type": "integer", "minimum": 1, "maximum": 16,
              "description": "The number of threads that call hooks, in each process. SERIAL plugins use one."
            },
            "memory": {
              "$ref": "#/$defs/size", "minimum": 16777216, "default": "256MiB",
              "description": "The writable memory of each process. At least 16MiB."
            },
            "cpu": {
              "type": "string", "pattern": "^([1-9][0-9]?[0-9]?|1[0-5][0-9][0-9]|1600)%$",
              "description": "The processor time of each process; 100% is one processor. Needs a delegated cgroup v2. Without it there is no limit."
            },
            "arena": {
              "$ref": "#/$defs/size", "minimum": 1048576, "maximum": 4294967296, "default": "64MiB",
              "description": "The shared memory for messages, in each direction. 1MiB to 4GiB. A part of a message may have half of it."
            },
            "hang": {
              "$ref": "#/$defs/duration", "default": "1s",
              "description": "The longest time that a hook may run. Then its worker is killed. A suspended hook does not run."
            },
            "read": {
              "type": "array", "uniqueItems": true, "default": [],
              "items": {
                "type": "string", "pattern": "^/+[^/]", "not": {"pattern": "(^|/)[.][.]?(/|$)|^/+proc(/|$)"}
              },
              "description": "Files and folders that the plugin may read, besides libraries. Absolute paths."
            },
            "environment": {
              "type": "array", "uniqueItems": true, "default": [],
              "items": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": {"pattern": "^(LD_|GLIBC_TUNABLES$)"}},
              "description": "Variables of the host that are passed on. LANG and TZ always are."
            },
            "restart": {
              "description": "The restarts of a worker that crashes. The first is at once.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "backoff": {"$ref": "#/$defs/duration", "default": "100ms", "description": "The delay before the second restart. It doubles with each further one."},
                "maximum": {"$ref": "#/$defs/duration", "default": "30s", "description": "The longest delay."},
                "after": {
                  "type": "integer", "minimum": 1, "maximum": 1000, "default": 5,
                  "description": "The number of crashes that is too many. Then there is one restart per breaker-cool-down."
                },
                "within": {"$ref": "#/$defs/duration", "default": "1m", "description": "The time in which crashes are counted."}
              }
            },
            "confine": {
              "enum": ["strict", "available"], "default": "strict",
              "description": "strict does not start a worker if this system lacks a layer of confinement; available does, and logs what is missing."
            }
          },
          "anyOf": [{"properties": {"mode": {"const": "worker"}}}, {"maxProperties": 1}]
        }
      ]
    }
    """
}
