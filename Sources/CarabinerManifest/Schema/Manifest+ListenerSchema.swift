extension Manifest {
  /// The part of ``schema`` for `serve.listeners`.
  static let listenersSchema = """
    {
      "description": "The addresses of the gateway. --listen replaces the list. A reload binds new addresses first, and closes removed ones.",
      "type": "array", "minItems": 1, "maxItems": \(Listener.maximum),
      "items": {
        "type": "object",
        "required": ["address"],
        "additionalProperties": false,
        "properties": {
          "address": {
            "type": "string",
            "not": {"pattern": "^fd:"},
            "pattern": "^(unix:/[!-~]+|(\\\\[[0-9A-Fa-f:.]+\\\\]|[0-9A-Za-z._-]*):[0-9]{1,5})$",
            "description": "HOST:PORT, [IPV6]:PORT or unix:/PATH. Port 0 selects a free port."
          },
          "tls": {
            "description": "TLS for the clients. Without it connections are not encrypted.",
            "type": "object",
            "required": ["certificates"],
            "additionalProperties": false,
            "properties": {
              "certificates": {
                "type": "array", "minItems": 1, "maxItems": \(Listener.maximumCertificates),
                "items": {
                  "type": "object", "required": ["certificate", "key"], "additionalProperties": false,
                  "properties": {"certificate": {"$ref": "#/$defs/text"}, "key": {"$ref": "#/$defs/text"}}
                },
                "description": "Files in PEM: the certificate with its chain, and its key. The host name that a client asks for selects one; the first is the default."
              },
              "client-ca": {"$ref": "#/$defs/text", "description": "The authorities of client certificates. Without it clients are asked for none."},
              "client-certificate": {
                "enum": ["require", "request"], "default": "require",
                "description": "Whether clients must have a certificate, or may have one."
              },
              "minimum-version": {
                "enum": ["1.2", "1.3", 1.2, 1.3], "default": "1.2", "description": "The lowest version of TLS."
              }
            },
            "dependentRequired": {"client-certificate": ["client-ca"]}
          },
          "http2": {
            "type": "boolean", "description": "Whether clients may use HTTP/2. Without it the limit http2 decides."
          },
          "roles": {
            "type": "array", "minItems": 1, "uniqueItems": true, "items": {"enum": ["operations", "health", "metrics"]},
            "default": ["operations", "health"],
            "description": "The requests that are served: operations, /healthz and /readyz, /metrics."
          },
          "proxy-protocol": {
            "enum": ["none", "require"], "default": "none",
            "description": "Whether each connection begins with a header of the PROXY protocol, version 1 or 2. Needs trusted-proxies."
          }
        }
      }
    }
    """
}
