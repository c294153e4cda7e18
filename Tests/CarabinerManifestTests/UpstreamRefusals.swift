import CarabinerManifest

extension Refusal {
  /// A mistake in the upstream `a`.
  private static func upstream(
    _ name: String, _ keys: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(
      name, "carabiner: 1\nupstreams: {a: {endpoints: ['http://b/graphql'], \(keys)}}", code, "/upstreams/a\(pointer)", fragment)
  }

  /// A mistake in the endpoints of the upstream `a`.
  private static func endpoints(
    _ name: String, _ list: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(
      name, "carabiner: 1\nupstreams: {a: {endpoints: \(list)}}", code, "/upstreams/a/endpoints\(pointer)", fragment)
  }

  private static let manyEndpoints = (0...256).map { "'http://b\($0)/'" }.joined(separator: ", ")

  private static let upstreamEndpoints: [Refusal] = [
    Refusal("upstreams as a list", "carabiner: 1\nupstreams: [a]", .wrongType, "/upstreams", "an object of upstreams by name"),
    Refusal(
      "an upstream's name in capitals", "carabiner: 1\nupstreams: {A: {endpoints: ['http://b/']}}", .invalidValue, "/upstreams/A",
      "not an upstream name"),
    Refusal(
      "upstreams for calls", "carabiner: 1\nprotocol: connect\nupstreams: {a: {endpoints: ['http://b/']}}", .invalidValue,
      "/upstreams", "needs protocol: graphql"),
    Refusal(
      "endpoint and the upstream main", "carabiner: 1\nendpoint: 'http://a/'\nupstreams: {main: {endpoints: ['http://b/']}}",
      .invalidValue, "/upstreams/main", "both name the endpoints of main; remove one"),
    Refusal(
      "an upstream without endpoints", "carabiner: 1\nupstreams: {a: {}}", .missing, "/upstreams/a", "endpoints are missing"),
    .endpoints("no endpoint", "[]", .invalidValue, "", "1 to 256 endpoints, and this one has 0"),
    .endpoints("too many endpoints", "[\(manyEndpoints)]", .invalidValue, "", "and this one has 257"),
    .endpoints("endpoints as a text", "'http://a/'", .wrongType, "", "a list of endpoints"),
    .endpoints("an endpoint as a number", "[1]", .wrongType, "/0", "a URL, or an object with url:"),
    .endpoints("an endpoint of another scheme", "['ftp://a']", .invalidValue, "/0", "https:// or http://"),
    .endpoints("an endpoint without URL", "[{weight: 1}]", .missing, "/0", "the url is missing"),
    .endpoints(
      "an endpoint twice", "['http://a/', {url: 'http://a/', weight: 2}]", .duplicateName, "/1",
      "is an endpoint of this upstream already"),
    .endpoints("the weight 0", "[{url: 'http://a/', weight: 0}]", .invalidValue, "/0/weight", "from 1 to 1000"),
    .endpoints("a backup as a text", "[{url: 'http://a/', backup: sometimes}]", .wrongType, "/0/backup", "true or false"),
    .endpoints("a slip in an endpoint", "[{url: 'http://a/', wait: 1}]", .unknownKey, "/0/wait", "unknown key wait"),
  ]

  private static let upstreamRules: [Refusal] = [
    .rule(
      "a rule with an unknown upstream", "{when: {}, upstream: report}", .invalidValue, "/upstream",
      "there is no upstream report"),
    .rule("a rule's timeout of zero", "{when: {}, timeout: 0s}", .invalidValue, "/timeout", "is zero"),
    .rule("a path without slash", "{when: {path: public}, timeout: 1s}", .invalidValue, "/when/path", "begins with /"),
    .rule(
      "a path with a query", "{when: {path: ['/a', '/b?c']}, timeout: 1s}", .invalidValue, "/when/path/1", "begins with /"),
  ]

  /// All mistakes in `upstreams`, and in the keys of rules that belong to them.
  static let upstreams =
    upstreamEndpoints + upstreamRules + [
      .upstream("a slip in an upstream", "balanse: random", .unknownKey, "/balanse", "(did you mean balance?)"),
      .upstream("an unknown balance", "balance: fastest", .invalidValue, "/balance", "use least-requests, round-robin"),
      .upstream("hash without hash-key", "balance: hash", .invalidValue, "/balance", "write hash-key: HEADER"),
      .upstream("a hash key with a space", "balance: hash, hash-key: 'a b'", .invalidValue, "/hash-key", "not a header name"),
      .upstream("resolve without unit", "resolve: 10", .invalidValue, "/resolve", "with a unit"),
      .upstream("retry as a number", "retry: 3", .wrongType, "/retry", "an object"),
      .upstream("no attempts", "retry: {attempts: 0}", .invalidValue, "/retry/attempts", "from 1 to 10"),
      .upstream(
        "an unknown cause", "retry: {causes: [conect]}", .invalidValue, "/retry/causes/0", "(did you mean connect?)"),
      .upstream(
        "a status that cannot be a cause", "retry: {causes: [404]}", .invalidValue, "/retry/causes/0", "404 is not a cause"),
      .upstream("a status as a text", "retry: {causes: ['502']}", .invalidValue, "/retry/causes/0", "is not a cause"),
      .upstream("causes as a text", "retry: {causes: connect}", .wrongType, "/retry/causes", "a list of causes"),
      .upstream("a budget above 100%", "retry: {budget: 101%}", .invalidValue, "/retry/budget", "from 0 to 100"),
      .upstream("a negative delay", "retry: {base-delay: -1s}", .invalidValue, "/retry/base-delay", "not a duration"),
      .upstream("a longest delay of words", "retry: {maximum-delay: long}", .invalidValue, "/retry/maximum-delay", "a duration"),
      .upstream(
        "an attempt without time", "retry: {per-attempt-timeout: 0s}", .invalidValue, "/retry/per-attempt-timeout", "is zero"),
      .upstream(
        "retries without minimum", "retry: {minimum-concurrent: -1}", .invalidValue, "/retry/minimum-concurrent", "from 0 to"),
      .upstream("a panic of half", "panic: 0.5", .invalidValue, "/panic", "not a share"),
      .upstream(
        "a check with path and query", "health: {path: /a, query: '{a}'}", .invalidValue, "/health", "a path or a query"),
      .upstream("a check without a request", "health: {}", .missing, "/health", "write path: or query:"),
      .upstream("a check of a relative path", "health: {path: a}", .invalidValue, "/health/path", "begins with /"),
      .upstream("a check without fall", "health: {path: /, fall: 0}", .invalidValue, "/health/fall", "from 1 to 1000"),
      .upstream("a check without rise", "health: {path: /, rise: 0}", .invalidValue, "/health/rise", "from 1 to 1000"),
      .upstream("a check without interval", "health: {path: /, interval: 0s}", .invalidValue, "/health/interval", "is zero"),
      .upstream("a check without timeout", "health: {path: /, timeout: 2}", .invalidValue, "/health/timeout", "with a unit"),
      .upstream("no status", "health: {path: /, status: []}", .invalidValue, "/health/status", "not a list of statuses"),
      .upstream("an impossible status", "health: {path: /, status: [99]}", .invalidValue, "/health/status/0", "not a status"),
      .upstream(
        "a range of statuses that ends before it begins", "health: {path: /, status: ['299-200']}", .invalidValue,
        "/health/status/0", "not a status"),
      .upstream("outliers as a truth value", "outliers: false", .wrongType, "/outliers", "an object"),
      .upstream("no failures", "outliers: {failures: 0}", .invalidValue, "/outliers/failures", "from 1 to 1000"),
      .upstream("no ejection", "outliers: {ejection: 0s}", .invalidValue, "/outliers/ejection", "is zero"),
      .upstream(
        "no longest ejection", "outliers: {maximum-ejection: 5}", .invalidValue, "/outliers/maximum-ejection", "with a unit"),
      .upstream(
        "more ejected than all", "outliers: {maximum-ejected: 200%}", .invalidValue, "/outliers/maximum-ejected", "a share"),
      .upstream("no requests", "limits: {requests: 0}", .invalidValue, "/limits/requests", "from 1 to"),
      .upstream("less than none waiting", "limits: {waiting: -1}", .invalidValue, "/limits/waiting", "from 0 to"),
      .upstream("no connections", "limits: {connections: 0}", .invalidValue, "/limits/connections", "from 1 to"),
      .upstream("a breaker for no failures", "breaker: {share: 0%}", .invalidValue, "/breaker/share", "above 0%"),
      .upstream("a breaker without minimum", "breaker: {minimum: 0}", .invalidValue, "/breaker/minimum", "from 1 to"),
      .upstream("a breaker without a time", "breaker: {within: 0s}", .invalidValue, "/breaker/within", "is zero"),
      .upstream("a breaker that never closes", "breaker: {open: never}", .invalidValue, "/breaker/open", "not a duration"),
      .upstream("a certificate without key", "tls: {certificate: a.pem}", .invalidValue, "/tls", "belong together"),
      .upstream("a ca-file as a number", "tls: {ca-file: 1}", .wrongType, "/tls/ca-file", "a text"),
    ]
}
