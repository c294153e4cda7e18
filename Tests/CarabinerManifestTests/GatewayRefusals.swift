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
    serve("G18: no path", "paths: []", .invalidValue, "/paths", "1 to 64 paths, and this list has 0"),
    serve("G18: too many paths", "paths: [\(manyPaths)]", .invalidValue, "/paths", "and this list has 65"),
    serve("G18: a path without slash", "paths: [graphql]", .invalidValue, "/paths/0", "begins with /"),
    serve("G18: a path with a query", "paths: ['/a?b']", .invalidValue, "/paths/0", "without a query"),
    serve("a path with a fragment", "paths: ['/a#b']", .invalidValue, "/paths/0", "is not a path"),
    serve("a path with a space", "paths: ['/a b']", .invalidValue, "/paths/0", "is not a path"),
    serve("a path as a number", "paths: [1]", .wrongType, "/paths/0", "must be a text"),
    serve("G18: a path of health checks", "paths: [/graphql, /healthz]", .invalidValue, "/paths/1", "of the gateway itself"),
    serve("G18: a path of readiness", "paths: [/readyz]", .invalidValue, "/paths/0", "of the gateway itself"),
    serve("G18: a path of metrics", "paths: [/metrics]", .invalidValue, "/paths/0", "of the gateway itself"),
    serve("G18: a path twice", "paths: [/a, /b, /a]", .duplicateName, "/paths/2", "in the list already"),
  ]

  private static let limits: [Refusal] = [
    serve("limits as a number", "limits: 5", .wrongType, "/limits", "must be an object"),
    limit("G15: a misspelt limit", "maximum-bodies: 1MiB", .unknownKey, "maximum-bodies", "did you mean maximum-body?"),
    limit("G15: a body of nothing", "maximum-body: 0", .invalidValue, "maximum-body", "is zero"),
    limit("G15: a body above 1 GiB", "maximum-body: 2000000000", .invalidValue, "maximum-body", "from 1B to 1GiB"),
    limit("a head of 100 bytes", "maximum-head: 100", .invalidValue, "maximum-head", "from 256B to 1MiB"),
    limit("G15: no operations", "maximum-operations: 0", .invalidValue, "maximum-operations", "from 1 to 1000000"),
    limit("a number as a text", "maximum-waiting: '5'", .invalidValue, "maximum-waiting", "from 0 to 1000000"),
    limit("a time without a unit", "idle-timeout: 30", .invalidValue, "idle-timeout", "with a unit"),
    limit("no time to receive", "receive-timeout: 0s", .invalidValue, "receive-timeout", "is zero"),
    limit("G15: a rate without a unit", "rate: '100'", .invalidValue, "rate", "as in 100/s"),
    limit("a rate of zero", "rate: 0/s", .invalidValue, "rate", "is not a rate"),
    limit("a burst without a rate", "rate-burst: 5", .invalidValue, "rate-burst", "needs rate"),
    limit("a key without a rate", "rate-key: x-user", .invalidValue, "rate-key", "needs rate"),
    limit("a key with a space", "rate: 1/s, rate-key: 'a b'", .invalidValue, "rate-key", "not a header name"),
    limit("WebSockets as a text", "websocket: sometimes", .wrongType, "websocket", "true or false"),
    limit(
      "G15: old WebSockets without WebSockets", "websocket: false, legacy-websocket: true", .invalidValue, "legacy-websocket",
      "contradict each other"),
    limit("an origin alone", "allow-origin: '*'", .wrongType, "allow-origin", "a list of origins"),
    limit("an origin without scheme", "allow-origin: [example.org]", .invalidValue, "allow-origin/0", "as https://example.org"),
  ]

  /// Mistakes in what a gateway listens to, trusts and limits (C1, G14 to G18).
  static let gateway = paths + limits
}
