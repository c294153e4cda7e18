import CarabinerManifest

extension Refusal {
  /// A mistake in `serve.shared` or `serve.idempotency`.
  private static func serve(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "carabiner: 1\nserve: {\(text)}", code, "/serve\(pointer)", fragment)
  }

  private static func shared(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    serve(name, "shared: {urls: ['redis://a'], \(text)}", code, "/shared\(pointer)", fragment)
  }

  private static func idempotency(_ name: String, _ text: String, _ key: String, _ fragment: String) -> Refusal {
    serve(
      name, "shared: {urls: ['redis://a']}, idempotency: {\(key): \(text)}", .invalidValue, "/idempotency/\(key)", fragment)
  }

  /// All mistakes in what gateways share.
  static let sharedStates: [Refusal] = [
    serve("shared as a URL", "shared: 'redis://a'", .wrongType, "/shared", "must be an object"),
    serve("shared without servers", "shared: {}", .missing, "/shared", "the servers are missing"),
    serve("another scheme of shared", "shared: {urls: ['http://a']}", .invalidValue, "/shared/urls/0", "does not begin with"),
    shared("a key of a store in shared", "near: {}", .unknownKey, "/near", "unknown key near"),
    shared("a user without a password in shared", "user: a", .invalidValue, "/user", "user needs password"),
    serve(
      "a database in a cluster that is shared", "shared: {urls: ['redis://a/1'], cluster: true}", .invalidValue, "/shared/urls/0",
      "a cluster has database 0 only"),
    shared("a prefix with a space in shared", "prefix: 'a b'", .invalidValue, "/prefix", "is not a prefix"),
    shared("sync without a unit", "sync: 100", .invalidValue, "/sync", "is not a duration"),
    shared("sync below 10ms", "sync: 9ms", .invalidValue, "/sync", "outside of 10ms to 10s"),
    shared("sync above 10s", "sync: 11s", .invalidValue, "/sync", "outside of 10ms to 10s"),
    shared("budget above 10s", "budget: 11s", .invalidValue, "/budget", "outside of 1ms to 10s"),
    serve("idempotency without shared", "idempotency: {}", .invalidValue, "/idempotency", "write shared:"),
    serve("idempotency as true", "idempotency: true", .wrongType, "/idempotency", "must be an object"),
    idempotency("a header with a space for keys", "'a b'", "header", "is not a header name"),
    idempotency("keep below a lease", "1m", "keep", "outside of 5m to 720h"),
    idempotency("keep above 30 days", "721h", "keep", "at most 30 days"),
    idempotency("no size of answers", "0", "body", "is zero"),
    idempotency("a size above 16MiB", "17MiB", "body", "up to 16MiB"),
    idempotency("an unknown choice without servers", "ignore", "on-unavailable", "neither refuse nor run"),
  ]
}
