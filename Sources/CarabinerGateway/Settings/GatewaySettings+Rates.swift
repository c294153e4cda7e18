internal import Carabiner
internal import CarabinerWire

extension GatewaySettings {
  /// Counts operations of a client that are about to begin.
  ///
  /// - Throws: A refusal with the status 429 if the client exceeds its rate; with 400 if two fields identify it.
  func charge(_ operations: Int, _ headers: HTTPHeaders, _ client: String) throws(RequestRefusal) {
    guard let rate = limits.rate, let rateLimiter, operations > 0 else { return }
    let key = try RateLimiter.key(headers, client, field: rate.keyField)
    var verdict = sharedRates?.verdict(operations, for: key) ?? .allowed
    if verdict == .allowed { verdict = rateLimiter.take(operations, from: key) }
    guard case .refused(let time) = verdict else {
      sharedRates?.count(operations, for: key)
      return
    }
    let seconds = time.wholeSeconds
    // A message of a WebSocket has no header, so the text has the seconds too.
    throw RequestRefusal(
      429, "this client sends more than \(rate); try again in \(seconds) s", code: "RATE_LIMITED",
      headers: ["Retry-After": String(seconds)])
  }
}

extension Duration {
  /// The duration in seconds, rounded up.
  fileprivate var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
