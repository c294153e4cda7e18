import CarabinerManifest

extension Refusal {
  /// A mistake in one key of `serve`.
  private static func serve(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "carabiner: 1\nserve: {\(text)}", code, "/serve\(pointer)", fragment)
  }

  /// A mistake in `serve.limits`.
  private static func limit(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ key: String, _ fragment: String
  ) -> Refusal {
    serve(name, "limits: {\(text)}", code, "/limits\(key.isEmpty ? "" : "/")\(key)", fragment)
  }

  private static let manyPaths = (0...64).map { "/a\($0)" }.joined(separator: ", ")

  private static let paths: [Refusal] = [
    serve("paths as a text", "paths: /graphql", .wrongType, "/paths", "a list of paths"),
    serve("no path", "paths: []", .invalidValue, "/paths", "1 to 64 paths, and this list has 0"),
    serve("too many paths", "paths: [\(manyPaths)]", .invalidValue, "/paths", "and this list has 65"),
    serve("a path without slash", "paths: [graphql]", .invalidValue, "/paths/0", "begins with /"),
    serve("a path with a query", "paths: ['/a?b']", .invalidValue, "/paths/0", "without a query"),
    serve("a path with a fragment", "paths: ['/a#b']", .invalidValue, "/paths/0", "is not a path"),
    serve("a path with a space", "paths: ['/a b']", .invalidValue, "/paths/0", "is not a path"),
    serve("a path as a number", "paths: [1]", .wrongType, "/paths/0", "must be a text"),
    serve("a path of health checks", "paths: [/graphql, /healthz]", .invalidValue, "/paths/1", "of the gateway itself"),
    serve("a path of readiness", "paths: [/readyz]", .invalidValue, "/paths/0", "of the gateway itself"),
    serve("a path of metrics", "paths: [/metrics]", .invalidValue, "/paths/0", "of the gateway itself"),
    serve("a path twice", "paths: [/a, /b, /a]", .duplicateName, "/paths/2", "in the list already"),
  ]

  private static let limits: [Refusal] = [
    serve("limits as a number", "limits: 5", .wrongType, "/limits", "must be an object"),
    limit("a misspelt limit", "maximum-bodies: 1MiB", .unknownKey, "maximum-bodies", "did you mean maximum-body?"),
    limit("a body of nothing", "maximum-body: 0", .invalidValue, "maximum-body", "is zero"),
    limit("a body above 1 GiB", "maximum-body: 2000000000", .invalidValue, "maximum-body", "from 1B to 1GiB"),
    limit("a head of 100 bytes", "maximum-head: 100", .invalidValue, "maximum-head", "from 256B to 1MiB"),
    limit("no operations", "maximum-operations: 0", .invalidValue, "maximum-operations", "from 1 to 1000000"),
    limit("a number as a text", "maximum-waiting: '5'", .invalidValue, "maximum-waiting", "from 0 to 1000000"),
    limit("a time without a unit", "idle-timeout: 30", .invalidValue, "idle-timeout", "with a unit"),
    limit("no time to receive", "receive-timeout: 0s", .invalidValue, "receive-timeout", "is zero"),
    limit("a rate without a unit", "rate: '100'", .invalidValue, "rate", "as in 100/s"),
    limit("a rate of zero", "rate: 0/s", .invalidValue, "rate", "is not a rate"),
    limit("a burst without a rate", "rate-burst: 5", .invalidValue, "rate-burst", "needs rate"),
    limit("a key without a rate", "rate-key: x-user", .invalidValue, "rate-key", "needs rate"),
    limit("a key with a space", "rate: 1/s, rate-key: 'a b'", .invalidValue, "rate-key", "not a header name"),
    limit("WebSockets as a text", "websocket: sometimes", .wrongType, "websocket", "true or false"),
    limit(
      "old WebSockets without WebSockets", "websocket: false, legacy-websocket: true", .invalidValue, "legacy-websocket",
      "contradict each other"),
    limit("an origin alone", "allow-origin: '*'", .wrongType, "allow-origin", "a list of origins"),
    limit("an origin without scheme", "allow-origin: [example.org]", .invalidValue, "allow-origin/0", "as https://example.org"),
  ]

  private static let proxies: [Refusal] = [
    serve("proxies as a text", "trusted-proxies: 10.0.0.0/8", .wrongType, "/trusted-proxies", "a list of networks"),
    serve("a proxy as a number", "trusted-proxies: [10]", .wrongType, "/trusted-proxies/0", "must be a text"),
    serve("a proxy as a name", "trusted-proxies: [proxy.test]", .invalidValue, "/trusted-proxies/0", "is not a network"),
    serve("a CIDR with host bits", "trusted-proxies: [10.0.0.1/8]", .invalidValue, "/trusted-proxies/0", "write 10.0.0.0/8"),
    serve(
      "a prefix that is too long", "trusted-proxies: [10.0.0.0/33]", .invalidValue, "/trusted-proxies/0", "is not a network"),
    serve(
      "a network twice", "trusted-proxies: [10.0.0.0/8, 10.0.0.0/8]", .duplicateName, "/trusted-proxies/1", "already"),
    serve("readiness as a truth value", "ready: true", .wrongType, "/ready", "must be an object"),
    serve("a slip in readiness", "ready: {upstreams: true}", .unknownKey, "/ready/upstreams", "did you mean upstream?"),
    serve("an upstream as a text", "ready: {upstream: main}", .wrongType, "/ready/upstream", "true or false"),
    serve("fields as a text", "forwarded-fields: all", .wrongType, "/forwarded-fields", "true or false"),
  ]

  /// A mistake in the only listener, with or without TLS.
  private static func listener(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    serve(name, "listeners: [{address: '127.0.0.1:0', \(text)}]", code, "/listeners/0\(pointer)", fragment)
  }

  private static let pair = "certificates: [{certificate: present.plugin, key: present.plugin}]"

  private static let listeners: [Refusal] = [
    serve("listeners as a text", "listeners: ':4000'", .wrongType, "/listeners", "a list of listeners"),
    serve("no listener", "listeners: []", .invalidValue, "/listeners", "1 to 64 listeners, and this list has 0"),
    serve("a listener as a text", "listeners: [':4000']", .wrongType, "/listeners/0", "must be an object"),
    serve("a listener without address", "listeners: [{http2: true}]", .missing, "/listeners/0", "the address is missing"),
    serve("an address without port", "listeners: [{address: localhost}]", .invalidValue, "/listeners/0/address", "HOST:PORT"),
    serve("an address with a high port", "listeners: [{address: ':65536'}]", .invalidValue, "/listeners/0/address", "HOST:PORT"),
    serve("a relative socket", "listeners: [{address: 'unix:a'}]", .invalidValue, "/listeners/0/address", "unix:/PATH"),
    serve("a descriptor", "listeners: [{address: 'fd:3'}]", .invalidValue, "/listeners/0/address", "is not an address"),
    serve(
      "a listener twice", "listeners: [{address: ':4000'}, {address: ':4000'}]", .duplicateName, "/listeners/1/address",
      "of another listener"),
    listener("a slip in a listener", "http: true", .unknownKey, "/http", "did you mean http2?"),
    listener("HTTP/2 as a text", "http2: always", .wrongType, "/http2", "true or false"),
    listener("no roles", "roles: []", .invalidValue, "/roles", "this list is empty"),
    listener("an unknown role", "roles: [admin]", .invalidValue, "/roles/0", "operations, health, metrics"),
    listener("a role twice", "roles: [health, health]", .duplicateName, "/roles/1", "already"),
    listener("roles as a text", "roles: health", .wrongType, "/roles", "a list of roles"),
    listener("an unknown use of the protocol", "proxy-protocol: optional", .invalidValue, "/proxy-protocol", "require or none"),
    listener(
      "the PROXY protocol without trusted proxies", "proxy-protocol: require", .invalidValue, "/proxy-protocol",
      "write trusted-proxies"),
    listener("TLS without certificates", "tls: {}", .missing, "/tls", "the certificates are missing"),
    listener("no certificates", "tls: {certificates: []}", .invalidValue, "/tls/certificates", "1 to 100 certificates"),
    listener("certificates as a text", "tls: {certificates: a.pem}", .wrongType, "/tls/certificates", "a list of certificates"),
    listener(
      "a certificate without key", "tls: {certificates: [{certificate: present.plugin}]}", .missing, "/tls/certificates/0",
      "belong together"),
    listener(
      "an absent certificate", "tls: {certificates: [{certificate: absent.pem, key: present.plugin}]}", .missing,
      "/tls/certificates/0/certificate", "there is no file"),
    listener(
      "client-certificate without client-ca", "tls: {\(pair), client-certificate: require}", .invalidValue,
      "/tls/client-certificate", "write client-ca: FILE"),
    listener(
      "an unknown demand", "tls: {\(pair), client-ca: present.plugin, client-certificate: maybe}", .invalidValue,
      "/tls/client-certificate", "require or request"),
    listener(
      "an old version of TLS", "tls: {\(pair), minimum-version: 1.1}", .invalidValue, "/tls/minimum-version", "1.2 or 1.3"),
  ]

  /// Mistakes in what a gateway listens to, trusts and limits.
  static let gateway = paths + limits + proxies + listeners
}
