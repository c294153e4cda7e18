internal import CarabinerWire

/// How a client takes its results.
struct ResponseFormat: Sendable, Hashable {
  /// How one result is labelled.
  enum Whole: String, Sendable {
    case json = "application/json"
    case graphQLResponse = "application/graphql-response+json"
  }

  /// How several results come.
  enum Pieces: Sendable, Hashable {
    case multipartDeferred
    case multipartSubscription
    case events
  }

  let whole: Whole
  /// How the parts of a deferred result come; nil if the client wants it whole.
  let deferred: Pieces?
  /// How the results of a subscription come; nil if the client does not take any.
  let subscription: Pieces?

  /// What an Accept field says; nil if the client takes nothing there is.
  init?(accept: String?) {
    // What nearly every client says.
    switch accept {
    case nil, "*/*", "application/json":
      self.init(.json, nil, nil)
      return
    default: break
    }
    let ranges = MediaRange.list(accept ?? "")
    let events = Self.quality(ranges, "text/event-stream")
    let parts = Self.quality(ranges, "multipart/mixed", "deferspec", "20220824")
    let results = Self.quality(ranges, "multipart/mixed", "subscriptionspec", "1.0")
    let best = Self.best(ranges)
    guard best != nil || max(events, parts, results) > 0 else { return nil }
    let deferred: Pieces? =
      switch best {
      case nil: parts > 0 && parts >= events ? .multipartDeferred : events > 0 ? .events : nil
      case let best?: parts > 0 && parts >= best.quality ? .multipartDeferred : nil
      }
    self.init(
      best?.whole ?? .json, deferred,
      results > 0 && results >= events ? .multipartSubscription : events > 0 ? .events : nil)
  }

  /// How much a type is wanted that only clients get that name it, with a parameter if it has one; 0 if it is not.
  private static func quality(_ ranges: [MediaRange], _ type: String, _ name: String? = nil, _ value: String? = nil) -> Double {
    ranges.first { range in range.type == type && name.map { range.parameters[$0] == value } ?? true }?.quality ?? 0
  }

  /// The label that is wanted most, and that the client named first among equals. The range that names a type most exactly decides about
  /// it, so that a quality of 0 excludes it from wider ranges (RFC 9110, 12.5.1).
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

  /// Whether all results come as events, those of queries and errors too (the distinct connections mode of GraphQL over SSE).
  var takesOnlyEvents: Bool { deferred == .events }

  private init(_ whole: Whole, _ deferred: Pieces?, _ subscription: Pieces?) {
    self.whole = whole
    self.deferred = deferred
    self.subscription = subscription
  }
}
