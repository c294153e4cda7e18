internal import CarabinerWire

/// The format in which a client accepts results.
struct ResponseFormat: Sendable, Hashable {
  /// The media type of a single result.
  enum Whole: String, Sendable {
    case json = "application/json"
    case graphQLResponse = "application/graphql-response+json"
  }

  /// The format of several results.
  enum Pieces: Sendable, Hashable {
    /// Parts of a deferred result, with a path in each patch (`deferSpec=20220824`).
    case multipartDeferred
    /// Parts of a deferred result, with ids of pending fragments (`incrementalSpec=v0.2`).
    case multipartIncremental
    case multipartSubscription
    case events
  }

  let whole: Whole
  /// The format of deferred parts; nil if the client accepts only the whole result.
  let deferred: Pieces?
  /// The format of subscription results; nil if the client accepts none.
  let subscription: Pieces?

  /// Parses an Accept field; nil if it has no supported media type.
  init?(accept: String?) {
    // The common values, without parsing.
    switch accept {
    case nil, "*/*", "application/json":
      self.init(.json, nil, nil)
      return
    default: break
    }
    let ranges = MediaRange.list(accept ?? "")
    let events = Self.quality(ranges, "text/event-stream")
    let parts = Self.bestParts(ranges)
    let results = Self.quality(ranges, "multipart/mixed", "subscriptionspec", "1.0")
    let best = Self.best(ranges)
    guard best != nil || parts != nil || max(events, results) > 0 else { return nil }
    let deferred: Pieces? =
      if let parts, parts.quality >= best?.quality ?? events {
        parts.pieces
      } else {
        best == nil && events > 0 ? .events : nil
      }
    self.init(
      best?.whole ?? .json, deferred,
      results > 0 && results >= events ? .multipartSubscription : events > 0 ? .events : nil)
  }

  /// The quality of a type that the client must name explicitly, with its parameter if it has one; 0 if the client does not.
  private static func quality(_ ranges: [MediaRange], _ type: String, _ name: String? = nil, _ value: String? = nil) -> Double {
    ranges.first { range in range.type == type && name.map { range.parameters[$0] == value } ?? true }?.quality ?? 0
  }

  /// The format of deferred parts with the highest quality; of equal ones, the one that the client named first.
  private static func bestParts(_ ranges: [MediaRange]) -> (pieces: Pieces, quality: Double)? {
    var best: (pieces: Pieces, quality: Double)?
    for range in ranges where range.type == "multipart/mixed" && range.quality > best?.quality ?? 0 {
      if range.parameters["incrementalspec"] == "v0.2" {
        best = (.multipartIncremental, range.quality)
      } else if range.parameters["deferspec"] == "20220824" {
        best = (.multipartDeferred, range.quality)
      }
    }
    return best
  }

  /// The media type with the highest quality; of equal ones, the one that the client named first. The most specific range of a
  /// type decides, so a quality of 0 excludes it from wider ranges (RFC 9110, 12.5.1).
  private static func best(_ ranges: [MediaRange]) -> (whole: Whole, quality: Double)? {
    var best: (whole: Whole, quality: Double, place: Int)?
    for whole in [Whole.json, .graphQLResponse] {
      let place = [whole.rawValue, "application/*", "*/*"].lazy.compactMap { type in ranges.firstIndex { $0.type == type } }.first
      guard let place, ranges[place].quality > 0 else { continue }
      let quality = ranges[place].quality
      if let best, (best.quality, -best.place) >= (quality, -place) { continue }
      best = (whole, quality, place)
    }
    return best.map { ($0.whole, $0.quality) }
  }

  /// Whether all results are sent as events, including those of queries and errors (distinct connections mode of GraphQL over
  /// SSE).
  var takesOnlyEvents: Bool { deferred == .events }

  private init(_ whole: Whole, _ deferred: Pieces?, _ subscription: Pieces?) {
    self.whole = whole
    self.deferred = deferred
    self.subscription = subscription
  }
}
