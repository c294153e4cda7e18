internal import Carabiner
internal import CarabinerWire

extension Manifest.Upstream {
  static let fields = Fields(Self(name: "", endpoints: [])) {
    $0.key(
      "endpoints", \.endpoints, .endpoints, "The servers. A text is a URL.",
      missing: "the endpoints are missing; write endpoints: [URL]")
    $0.key(
      "balance", \.balance,
      .word { json, words in
        "\(json) is not a balance\(Suggestion.text(for: json.string ?? "", among: words)); use \(words.joined(separator: ", "))"
      },
      "How an endpoint is chosen. least-requests draws two by weight and takes the one with fewer requests under way. hash needs "
        + "hash-key.")
    $0.key(
      "hash-key", \.hashKey, .hashKey,
      "The header of the request to the upstream whose value chooses the endpoint. A request without it gets any endpoint.")
    $0.key(
      "resolve", \.resolveInterval, .orNone(.duration),
      "The time between two lookups of a host name. Each of its addresses is used. With none, libcurl looks names up.")
    $0.key(
      "retry", \.retry, .object(Retry.fields),
      "Retries between the HTTP stages and the endpoints. Mutations are sent again only if they were not sent at all.")
    $0.key(
      "panic", \.panicShare, .share,
      "If a smaller share of the endpoints is available, all are used. With 0%, requests without an available endpoint get 503.")
    $0.key("health", \.health, .object(HealthCheck.fields), "Checks of each endpoint. Without this key there are none.")
    $0.key(
      "outliers", \.outliers, .orNone(.object(Outliers.fields)),
      "The ejection of endpoints that fail several times in a row. Without this key it is on for two or more endpoints.",
      usual: .null)
    $0.key("limits", \.limits, .object(Limits.fields))
    $0.key(
      "breaker", \.breaker, .object(Breaker.fields),
      "If many requests fail, requests get 503 at once. Without this key there is no breaker.")
    $0.key(
      "tls", \.tls, .object(TLS.fields), "PEM files for TLS connections to the endpoints. They are read again at a reload.")
    $0.rule(#""if": {"properties": {"balance": {"const": "hash"}}, "required": ["balance"]}, "then": {"required": ["hash-key"]}"#)
    {
      reader, upstream, members, pointer in
      if upstream.balance == .hash, members["hash-key"] == nil {
        reader.problem(
          .invalidValue, pointer.appending("balance"), "hash needs the header whose value is hashed; write hash-key: HEADER")
      }
      if upstream.hashKey != nil, upstream.balance != .hash {
        reader.warn(.unusedSetting, pointer.appending("hash-key"), "hash-key does nothing without balance: hash; remove it")
      }
    }
  }
}

extension Manifest.Upstream.Endpoint {
  fileprivate static let fields = Fields(Self(url: "")) {
    $0.key("url", \.url, .endpoint, missing: "the url is missing; write url: with the URL of the endpoint")
    $0.key("weight", \.weight, .count(1...1000), "The share of the requests, relative to the other weights.")
    $0.key("backup", \.isBackup, .truth, "Whether it gets requests only if no other endpoint is available.")
  }
}

extension Manifest.Upstream.Retry {
  fileprivate static let fields = Fields(Self()) {
    $0.key("attempts", \.attempts, .count(1...10), "The most attempts, the first included. 1 switches retries off.")
    $0.key("causes", \.causes, .causes, "The failures after which a request is sent again.")
    $0.key("per-attempt-timeout", \.attemptTimeout, .orNone(.duration))
    $0.key(
      "base-delay", \.baseDelay, .delay,
      "The longest delay before the first retry at the same endpoint. It doubles with each retry. Another endpoint is tried without "
        + "delay.")
    $0.key("maximum-delay", \.maximumDelay, .delay, "The longest delay. A longer Retry-After ends the retries.")
    $0.key("budget", \.budget, .share, "The most retries under way, as a share of the requests under way.")
    $0.key(
      "minimum-concurrent", \.minimumConcurrent, .count(0...100_000), "The retries under way that are always allowed.")
  }
}

extension Manifest.Upstream.HealthCheck {
  fileprivate static let fields = Fields(Self(request: .path("/"))) {
    $0.key("path", \.request, .path, "The path for GET.", usual: .null)
    $0.key("query", \.request, .query, "The document for POST. The response must be JSON with data.")
    $0.key("interval", \.interval, .duration, "The time between two checks, 10 % more or less at random.")
    $0.key("timeout", \.timeout, .duration)
    $0.key(
      "fall", \.fall, .count(1...1000), "The failed checks in a row after which an endpoint is not available.")
    $0.key("rise", \.rise, .count(1...1000), "The successful checks in a row after which it is available again.")
    $0.key("status", \.statuses, .statuses)
    $0.rule(#""oneOf": [{"required": ["path"]}, {"required": ["query"]}]"#) { reader, _, members, pointer in
      switch (members["path"], members["query"]) {
      case (nil, nil): reader.problem(.missing, pointer, "the check has no request; write path: or query:")
      case (_?, _?):
        reader.problem(.invalidValue, pointer, "a check has a path or a query, and not both; remove one of them")
      default: break
      }
    }
  }
}

extension Manifest.Upstream.Outliers {
  fileprivate static let fields = Fields(Self()) {
    $0.key("failures", \.failures, .count(1...1000))
    $0.key(
      "ejection", \.ejection, .duration, "The time of the first ejection. It is multiplied by the ejections in a row.")
    $0.key("maximum-ejection", \.maximumEjection, .duration)
    $0.key(
      "maximum-ejected", \.maximumEjected, .share,
      "The share of the endpoints that may be ejected at once; always at least one, and never the last available one.")
  }
}

extension Manifest.Upstream.Limits {
  fileprivate static let fields = Fields(Self()) {
    $0.key("requests", \.requests, .count(1...1_000_000), "The most requests under way. Further ones wait.")
    $0.key("waiting", \.waiting, .count(0...1_000_000), "The most requests that wait. Further ones get 503.")
    $0.key(
      "connections", \.connections, .orNone(.count(1...100_000)),
      "The most connections, divided among the endpoints. Each endpoint has at least one.")
  }
}

extension Manifest.Upstream.Breaker {
  fileprivate static let fields = Fields(Self()) {
    $0.key("share", \.share, .positiveShare, "The share of failed requests that opens the breaker.")
    $0.key("minimum", \.minimum, .count(1...1_000_000), "The requests that must have been counted.")
    $0.key("within", \.window, .duration)
    $0.key("open", \.openTime, .duration, "The time after which one request at a time tries the upstream.")
  }
}

extension Manifest.Upstream.TLS {
  fileprivate static let fields = Fields(Self()) {
    $0.key("ca-file", \.authorities, .path, "The certificates to trust instead of those of the host.")
    $0.key("certificate", \.certificate, .path, "The certificate of the client.")
    $0.key("key", \.key, .path, "The key of the certificate.")
    $0.rule(#""dependentRequired": {"certificate": ["key"], "key": ["certificate"]}"#) { reader, _, members, pointer in
      guard (members["certificate"] == nil) != (members["key"] == nil) else { return }
      reader.problem(
        .invalidValue, pointer, "a certificate and its key belong together; write both, or remove both")
    }
  }
}

// MARK: Kinds of values

extension ValueKind<[Manifest.Upstream.Endpoint]> {
  fileprivate static var endpoints: Self {
    let kind = ValueKind<Manifest.Upstream.Endpoint>.endpoint
    let most = Manifest.Upstream.maximumEndpoints
    return Self(#""type": "array", "minItems": 1, "maxItems": \#(most), "items": {\#(kind.schema)}"#) { reader, json, place in
      // This is not nil after a problem, because nil would end the reading of the object.
      guard case .array(let entries) = json else {
        reader.wrongType(json, place, "a list of endpoints")
        return []
      }
      guard (1...most).contains(entries.count) else {
        reader.problem(
          .invalidValue, place,
          "an upstream has 1 to \(most) endpoints, and this one has \(entries.count); write at least one URL, or use a host name with "
            + "several addresses")
        return []
      }
      var seen: Set<String> = []
      return entries.enumerated().compactMap { index, entry -> Manifest.Upstream.Endpoint? in
        let place = place.appending(index)
        guard let endpoint = kind.read(&reader, entry, place) else { return nil }
        if seen.insert(endpoint.url).inserted { return endpoint }
        reader.problem(
          .duplicateName, place,
          "\(PrintableURL(endpoint.url)) is an endpoint of this upstream already; remove it, or give the first one a weight")
        return nil
      }
    }
  }
}

extension ValueKind<Manifest.Upstream.Endpoint> {
  fileprivate static var endpoint: Self {
    Self(##""oneOf": [{"$ref": "#/$defs/endpoint"}, {\##(Value.fields.schema)}]"##) { reader, json, place in
      if json.string != nil { return reader.endpointURL(json, place).map { Value(url: $0) } }
      guard case .object = json else {
        reader.wrongType(json, place, "a URL, or an object with url:")
        return nil
      }
      return Value.fields.read(json, place, &reader)
    }
  }
}

extension ValueKind<String> {
  fileprivate static var endpoint: Self { text(##""$ref": "#/$defs/endpoint""##) { $0.endpointURL($1, $2) ?? "" } }

  fileprivate static var hashKey: Self {
    text(##""$ref": "#/$defs/headerName""##) { reader, json, place in
      if let name = reader.text(json, place), HeaderText.isName(name) { return name }
      if json.string?.isEmpty == false { reader.problem(.invalidValue, place, "\(json) is not a header name; write one") }
      return nil
    }
  }
}

extension ValueKind<Set<Manifest.Upstream.Retry.Cause>> {
  fileprivate static var causes: Self {
    // A status is a number, so that there is one way to write it.
    let json = { @Sendable (causes: Value) in
      JSONValue.array(
        Value.Element.allCases.filter(causes.contains).map { cause in
          cause.status.map { .number(JSONNumber($0)) } ?? .string(cause.rawValue)
        })
    }
    return Self(
      #""type": "array", "items": {"enum": \#(json(Value(Value.Element.allCases)))}"#, json: json,
      read: { reader, json, place in
        guard case .array(let entries) = json else {
          reader.wrongType(json, place, "a list of causes")
          return nil
        }
        return Set(
          entries.enumerated().compactMap { index, entry in
            let cause = (entry.string ?? entry.int.map(String.init)).flatMap { Value.Element(rawValue: $0) }
            if let cause, (cause.status == nil) == (entry.string != nil) { return cause }
            let known = Value.Element.allCases.map(\.rawValue)
            reader.problem(
              .invalidValue, place.appending(index),
              "\(entry) is not a cause\(Suggestion.text(for: entry.string ?? "", among: known)); use "
                + known.joined(separator: ", "))
            return nil
          })
      })
  }
}

extension ValueKind<Manifest.Upstream.HealthCheck.Request> {
  fileprivate static var path: Self {
    let path = ValueKind<String>.text(
      #""type": "string", "pattern": "^/[!-~]*$""#, { $0.wholeMatch(of: /\/[!-~]*/) != nil },
      "is not a path; write one that begins with /, without spaces")
    return Self(path.schema) { path.read(&$0, $1, $2).map { .path($0) } }
  }

  fileprivate static var query: Self {
    Self(ValueKind<String>.text.schema) { $0.text($1, $2).map { .query($0) } }
  }
}

extension ValueKind<[ClosedRange<Int>]> {
  /// Statuses and ranges of statuses, such as 200 or 200-299.
  fileprivate static var statuses: Self {
    let range = #"{"type": "string", "pattern": "^[1-5][0-9][0-9]-[1-5][0-9][0-9]$"}"#
    return Self(
      #""type": "array", "minItems": 1, "items": {"oneOf": [{"type": "integer", "minimum": 100, "maximum": 599}, \#(range)]}"#,
      json: { .array($0.map { .string("\($0.lowerBound)-\($0.upperBound)") }) },
      read: { reader, json, place in
        guard case .array(let entries) = json, !entries.isEmpty else {
          reader.problem(.invalidValue, place, "\(json) is not a list of statuses; write one, as in [200-299, 404]")
          return nil
        }
        return entries.enumerated().compactMap { index, entry in
          let text = entry.int.map(String.init) ?? entry.string ?? ""
          let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
          if text.wholeMatch(of: /[1-5][0-9]{2}(-[1-5][0-9]{2})?/) != nil, let first = bounds.first, let last = bounds.last,
            first <= last, (bounds.count == 1) == (entry.int != nil)
          {
            return first...last
          }
          reader.problem(
            .invalidValue, place.appending(index), "\(entry) is not a status; write 204, or a range such as 200-299")
          return nil
        }
      })
  }
}
