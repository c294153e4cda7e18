internal import Carabiner
internal import CarabinerWire

extension ManifestReader {
  private static let upstreamKeys = [
    "endpoints", "balance", "hash-key", "resolve", "retry", "panic", "health", "outliers", "limits", "breaker", "tls",
  ]

  mutating func readUpstreams(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .object(let entries) = json else { return wrongType(json, pointer, "an object of upstreams by name") }
    if manifest.callProtocol != .graphQL {
      problem(.invalidValue, pointer, "upstreams needs protocol: graphql; write endpoint: with one URL")
    }
    for (name, value) in entries {
      let place = pointer.appending(name)
      guard !name.isEmpty, isName(name) else {
        problem(.invalidValue, place, "\(name.debugDescription) is not an upstream name; use letters a-z, digits and -")
        continue
      }
      // Added even if the upstream has problems. Otherwise rules that name it would be reported too.
      declaredUpstreams.insert(name)
      if name == Manifest.mainUpstream, manifest.endpoint != nil {
        problem(
          .invalidValue, place, "endpoint: and upstreams: {main: …} both name the endpoints of main; remove one of them")
      }
      if let upstream = upstream(name, value, place) { manifest.upstreams.append(upstream) }
    }
  }

  private mutating func upstream(_ name: String, _ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream? {
    guard let object = object(json, pointer, knowing: Self.upstreamKeys) else { return nil }
    guard let list = object["endpoints"] else {
      problem(.missing, pointer, "the endpoints are missing; write endpoints: [URL]")
      return nil
    }
    var upstream = Manifest.Upstream(name: name, endpoints: endpoints(list, pointer.appending("endpoints")))
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "balance": upstream.balance = word(value, place, "a balance") ?? upstream.balance
      case "hash-key":
        guard let name = text(value, place), HeaderText.isName(name) else {
          if value.string?.isEmpty == false { problem(.invalidValue, place, "\(value) is not a header name; write one") }
          continue
        }
        upstream.hashKey = name
      case "resolve": upstream.resolveInterval = durationOrNone(value, place, else: upstream.resolveInterval)
      case "retry": upstream.retry = retry(value, place)
      case "panic": upstream.panicShare = share(value, place) ?? upstream.panicShare
      case "health": upstream.health = health(value, place)
      case "outliers": upstream.outliers = outliers(value, place)
      case "limits": upstream.limits = upstreamLimits(value, place)
      case "breaker": upstream.breaker = breaker(value, place)
      case "tls": upstream.tls = upstreamTLS(value, place)
      default: break
      }
    }
    if upstream.balance == .hash, object["hash-key"] == nil {
      problem(
        .invalidValue, pointer.appending("balance"), "hash needs the header whose value is hashed; write hash-key: HEADER")
    }
    if upstream.hashKey != nil, upstream.balance != .hash {
      warn(.unusedSetting, pointer.appending("hash-key"), "hash-key does nothing without balance: hash; remove it")
    }
    return upstream
  }

  // MARK: Endpoints

  private mutating func endpoints(_ json: JSONValue, _ pointer: JSONPointer) -> [Manifest.Upstream.Endpoint] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of endpoints")
      return []
    }
    guard (1...Manifest.Upstream.maximumEndpoints).contains(entries.count) else {
      problem(
        .invalidValue, pointer,
        "an upstream has 1 to \(Manifest.Upstream.maximumEndpoints) endpoints, and this one has \(entries.count); write at least "
          + "one URL, or use a host name with several addresses")
      return []
    }
    var seen: Set<String> = []
    return entries.enumerated().compactMap { index, entry in
      let place = pointer.appending(index)
      guard let endpoint = endpoint(entry, place) else { return nil }
      guard seen.insert(endpoint.url).inserted else {
        problem(
          .duplicateName, place,
          "\(PrintableURL(endpoint.url)) is an endpoint of this upstream already; remove it, or give the first one a weight")
        return nil
      }
      return endpoint
    }
  }

  private mutating func endpoint(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream.Endpoint? {
    if json.string != nil { return endpointURL(json, pointer).map { Manifest.Upstream.Endpoint(url: $0) } }
    guard case .object = json else {
      wrongType(json, pointer, "a URL, or an object with url:")
      return nil
    }
    guard let object = object(json, pointer, knowing: ["url", "weight", "backup"]) else { return nil }
    guard let url = object["url"] else {
      problem(.missing, pointer, "the url is missing; write url: with the URL of the endpoint")
      return nil
    }
    var endpoint = endpointURL(url, pointer.appending("url")).map { Manifest.Upstream.Endpoint(url: $0) }
    if let weight = object["weight"], let count = count(weight, pointer.appending("weight"), 1...1000) {
      endpoint?.weight = count
    }
    if let backup = object["backup"], let isBackup = truth(backup, pointer.appending("backup")) {
      endpoint?.isBackup = isBackup
    }
    return endpoint
  }

  // MARK: Parts

  private mutating func retry(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream.Retry {
    var retry = Manifest.Upstream.Retry()
    let keys = [
      "attempts", "causes", "per-attempt-timeout", "base-delay", "maximum-delay", "budget", "minimum-concurrent",
    ]
    guard let object = object(json, pointer, knowing: keys) else { return retry }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "attempts": retry.attempts = count(value, place, 1...10) ?? retry.attempts
      case "causes": retry.causes = causes(value, place) ?? retry.causes
      case "per-attempt-timeout": retry.attemptTimeout = durationOrNone(value, place, else: nil)
      case "base-delay": retry.baseDelay = duration(value, place, orZero: true) ?? retry.baseDelay
      case "maximum-delay": retry.maximumDelay = duration(value, place, orZero: true) ?? retry.maximumDelay
      case "budget": retry.budget = share(value, place) ?? retry.budget
      case "minimum-concurrent": retry.minimumConcurrent = count(value, place, 0...100_000) ?? retry.minimumConcurrent
      default: break
      }
    }
    return retry
  }

  private mutating func causes(_ json: JSONValue, _ pointer: JSONPointer) -> Set<Manifest.Upstream.Retry.Cause>? {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of causes")
      return nil
    }
    return Set(
      entries.enumerated().compactMap { index, entry in
        let cause = (entry.string ?? entry.int.map(String.init)).flatMap { Manifest.Upstream.Retry.Cause(rawValue: $0) }
        // A status must be a number, not a text, so that there is only one way to write it.
        guard let cause, (cause.status == nil) == (entry.string != nil) else {
          let known = Manifest.Upstream.Retry.Cause.allCases.map(\.rawValue)
          problem(
            .invalidValue, pointer.appending(index),
            "\(entry) is not a cause\(Suggestion.text(for: entry.string ?? "", among: known)); use \(known.joined(separator: ", "))"
          )
          return nil
        }
        return cause
      })
  }

  private mutating func health(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream.HealthCheck? {
    let keys = ["path", "query", "interval", "timeout", "fall", "rise", "status"]
    guard let object = object(json, pointer, knowing: keys) else { return nil }
    var request: Manifest.Upstream.HealthCheck.Request?
    switch (object["path"], object["query"]) {
    case (let path?, nil): request = checkPath(path, pointer.appending("path")).map { .path($0) }
    case (nil, let query?): request = text(query, pointer.appending("query")).map { .query($0) }
    case (nil, nil): problem(.missing, pointer, "the check has no request; write path: or query:")
    case (_?, _?):
      problem(.invalidValue, pointer, "a check has a path or a query, and not both; remove one of them")
    }
    var health = Manifest.Upstream.HealthCheck(request: request ?? .path("/"))
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "interval": health.interval = duration(value, place) ?? health.interval
      case "timeout": health.timeout = duration(value, place) ?? health.timeout
      case "fall": health.fall = count(value, place, 1...1000) ?? health.fall
      case "rise": health.rise = count(value, place, 1...1000) ?? health.rise
      case "status": health.statuses = statuses(value, place) ?? health.statuses
      default: break
      }
    }
    return request == nil ? nil : health
  }

  private mutating func checkPath(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let path = text(json, pointer) else { return nil }
    guard path.wholeMatch(of: /\/[!-~]*/) != nil else {
      problem(.invalidValue, pointer, "\(path.debugDescription) is not a path; write one that begins with /, without spaces")
      return nil
    }
    return path
  }

  /// Statuses and ranges of statuses, such as 200 or 200-299.
  private mutating func statuses(_ json: JSONValue, _ pointer: JSONPointer) -> [ClosedRange<Int>]? {
    guard case .array(let entries) = json, !entries.isEmpty else {
      problem(.invalidValue, pointer, "\(json) is not a list of statuses; write one, as in [200-299, 404]")
      return nil
    }
    return entries.enumerated().compactMap { index, entry in
      let text = entry.int.map(String.init) ?? entry.string ?? ""
      let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
      guard text.wholeMatch(of: /[1-5][0-9]{2}(-[1-5][0-9]{2})?/) != nil, let first = bounds.first, let last = bounds.last,
        first <= last, (bounds.count == 1) == (entry.int != nil)
      else {
        problem(.invalidValue, pointer.appending(index), "\(entry) is not a status; write 204, or a range such as 200-299")
        return nil
      }
      return first...last
    }
  }

  private mutating func outliers(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream.Outliers? {
    var outliers = Manifest.Upstream.Outliers()
    if json.string == Self.none { return nil }
    guard let object = object(json, pointer, knowing: ["failures", "ejection", "maximum-ejection", "maximum-ejected"]) else {
      return outliers
    }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "failures": outliers.failures = count(value, place, 1...1000) ?? outliers.failures
      case "ejection": outliers.ejection = duration(value, place) ?? outliers.ejection
      case "maximum-ejection": outliers.maximumEjection = duration(value, place) ?? outliers.maximumEjection
      case "maximum-ejected": outliers.maximumEjected = share(value, place) ?? outliers.maximumEjected
      default: break
      }
    }
    return outliers
  }

  private mutating func upstreamLimits(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream.Limits {
    var limits = Manifest.Upstream.Limits()
    guard let object = object(json, pointer, knowing: ["requests", "waiting", "connections"]) else { return limits }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "requests": limits.requests = count(value, place, 1...1_000_000) ?? limits.requests
      case "waiting": limits.waiting = count(value, place, 0...1_000_000) ?? limits.waiting
      case "connections": if value.string != Self.none { limits.connections = count(value, place, 1...100_000) }
      default: break
      }
    }
    return limits
  }

  private mutating func breaker(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream.Breaker? {
    var breaker = Manifest.Upstream.Breaker()
    guard let object = object(json, pointer, knowing: ["share", "minimum", "within", "open"]) else { return nil }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "share": breaker.share = positiveShare(value, place) ?? breaker.share
      case "minimum": breaker.minimum = count(value, place, 1...1_000_000) ?? breaker.minimum
      case "within": breaker.window = duration(value, place) ?? breaker.window
      case "open": breaker.openTime = duration(value, place) ?? breaker.openTime
      default: break
      }
    }
    return breaker
  }

  private mutating func upstreamTLS(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream.TLS? {
    var tls = Manifest.Upstream.TLS()
    guard let object = object(json, pointer, knowing: ["ca-file", "certificate", "key"]) else { return nil }
    if let file = object["ca-file"] { tls.authorities = path(file, pointer.appending("ca-file")) }
    if let file = object["certificate"] { tls.certificate = path(file, pointer.appending("certificate")) }
    if let file = object["key"] { tls.key = path(file, pointer.appending("key")) }
    if (object["certificate"] == nil) != (object["key"] == nil) {
      problem(.invalidValue, pointer, "a certificate and its key belong together; write both, or remove both")
    }
    return tls
  }

  // MARK: Values

  /// The word for a setting that is switched off.
  private static let none = "none"

  private mutating func durationOrNone(_ json: JSONValue, _ pointer: JSONPointer, else fallback: Duration?) -> Duration? {
    json.string == Self.none ? nil : duration(json, pointer) ?? fallback
  }

  private mutating func word<Word: RawRepresentable<String> & CaseIterable>(
    _ json: JSONValue, _ pointer: JSONPointer, _ what: String
  ) -> Word? {
    guard let word = json.string.flatMap(Word.init(rawValue:)) else {
      let known = Word.allCases.map(\.rawValue)
      problem(
        .invalidValue, pointer,
        "\(json) is not \(what)\(Suggestion.text(for: json.string ?? "", among: known)); use \(known.joined(separator: ", "))")
      return nil
    }
    return word
  }
}
