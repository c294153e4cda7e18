import CarabinerManifest

extension Refusal {
  /// A mistake in the settings of a store in Redis.
  private static func redis(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    .store(name, "{redis: \(text)}", code, "/redis\(pointer)", fragment)
  }

  private static func redis(
    _ name: String, with text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    .redis(name, "{urls: ['redis://localhost'], \(text)}", code, pointer, fragment)
  }

  /// All mistakes in the settings of a store in Redis.
  static let redisStores: [Refusal] = [
    .redis("a store in Redis as text", "redis://localhost", .wrongType, "", "an object, and is a string"),
    .redis("no servers", "{}", .missing, "", "the servers are missing; write urls:"),
    .redis("a URL as text", "{urls: 'redis://localhost'}", .wrongType, "/urls", "a list of URLs, and is a string"),
    .redis("an empty list of URLs", "{urls: []}", .invalidValue, "/urls", "there are 0 URLs"),
    .redis(
      "17 URLs", "{urls: [\(Array(repeating: "'redis://localhost'", count: 17).joined(separator: ","))]}", .invalidValue, "/urls",
      "there are 17 URLs; write 1 to 16"),
    .redis("a number as URL", "{urls: [1]}", .wrongType, "/urls/0", "must be a text"),
    .redis(
      "another scheme", "{urls: ['redis://a', 'http://b']}", .invalidValue, "/urls/1", "does not begin with redis:// or rediss://"
    ),
    .redis(
      "a password in a URL", "{urls: ['redis://:s3cret@localhost']}", .invalidValue, "/urls/0", "use the keys user and password"),
    .redis(
      "a database in letters", "{urls: ['redis://localhost/a']}", .invalidValue, "/urls/0", "the database in the URL"),
    .redis(
      "an unknown key of Redis", with: "url: a", .unknownKey, "/url", "unknown key url (did you mean urls?); known are urls, user"
    ),
    .redis("a user without a password", with: "user: a", .invalidValue, "/user", "user needs password"),
    .redis("an empty password", with: "password: ''", .invalidValue, "/password", "this text is empty"),
    .redis(
      "a malformed reference as password", with: "password: '${vault:a}'", .malformedReference, "/password", "vault"),
    .redis(
      "a certificate without a key", "{urls: ['rediss://a'], certificate: secret.txt}", .invalidValue, "/certificate",
      "belong together"),
    .redis("a key without a certificate", "{urls: ['rediss://a'], key: secret.txt}", .invalidValue, "/key", "belong together"),
    .redis(
      "an authority without TLS", with: "ca-file: secret.txt", .invalidValue, "/ca-file", "ca-file is for URLs with rediss://"),
    .redis("an authority that is not there", "{urls: ['rediss://a'], ca-file: no.pem}", .missing, "/ca-file", "there is no file"),
    .redis("a cluster as text", with: "cluster: 'yes'", .wrongType, "/cluster", "true or false"),
    .redis("spread as text", with: "cluster: true, spread: all", .wrongType, "/spread", "true or false"),
    .redis("spread without a cluster", with: "spread: true", .invalidValue, "/spread", "write cluster: true as well"),
    .redis(
      "a database of a cluster", "{urls: ['redis://a', 'redis://b/1'], cluster: true}", .invalidValue, "/urls/1",
      "a cluster has database 0 only; remove /1"),
    .redis(
      "a cluster with and without TLS", "{urls: ['redis://a', 'rediss://b'], cluster: true}", .invalidValue, "/urls/1",
      "write the same one in all"),
    .redis("no connection", with: "connections: 0", .invalidValue, "/connections", "a whole number from 1 to 8"),
    .redis("9 connections", with: "connections: 9", .invalidValue, "/connections", "a whole number from 1 to 8"),
    .redis("a prefix with a colon", with: "prefix: 'a:b'", .invalidValue, "/prefix", "use 1 to 64 letters, digits and hyphens"),
    .redis(
      "a prefix of 65 letters", with: "prefix: \(String(repeating: "a", count: 65))", .invalidValue, "/prefix", "is not a prefix"),
    .redis("a budget without a unit", with: "read-budget: 20", .invalidValue, "/read-budget", "write it with a unit"),
    .redis("a budget of nothing", with: "read-budget: 0s", .invalidValue, "/read-budget", "zero"),
    .redis("a budget above 10s", with: "read-budget: 11s", .invalidValue, "/read-budget", "waits at most 10s"),
    .redis("no queue", with: "write-queue: 0", .invalidValue, "/write-queue", "zero"),
    .redis("records that are not kept", with: "time-to-live: 0s", .invalidValue, "/time-to-live", "zero"),
    .redis("near records as number", with: "near: 10", .wrongType, "/near", "an object, and is a number"),
    .redis("an unknown key of near records", with: "near: {age: 1s}", .unknownKey, "/near/age", "known are records, maximum-age"),
    .redis("less than no near records", with: "near: {records: -1}", .invalidValue, "/near/records", "a whole number from 0"),
    .redis("a near age of nothing", with: "near: {maximum-age: 0s}", .invalidValue, "/near/maximum-age", "zero"),
    .redis(
      "a near age above the time to live", with: "time-to-live: 2s, near: {maximum-age: 3s}", .invalidValue, "/near/maximum-age",
      "exceeds time-to-live"),
    .store(
      "a store in a file and in Redis", "{file: cache.sqlite, redis: {urls: ['redis://localhost']}}", .invalidValue, "/redis",
      "file and redis both name the place of the store"),
  ]
}
