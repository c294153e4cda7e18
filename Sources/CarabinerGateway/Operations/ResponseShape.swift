internal import CarabinerWire

/// How a client takes its results.
struct ResponseShape: Sendable, Hashable {
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
    let ranges = MediaRange.list(accept ?? "").filter { $0.quality > 0 }
    let takesEvents = ranges.contains { $0.type == "text/event-stream" }
    let takesParts = ranges.contains { $0.type == "multipart/mixed" && $0.parameters["deferspec"] == "20220824" }
    let takesResults = ranges.contains { $0.type == "multipart/mixed" && $0.parameters["subscriptionspec"] == "1.0" }
    var best: (whole: Whole, quality: Double)?
    for range in ranges {
      let whole = ["*/*", "application/*"].contains(range.type) ? .json : Whole(rawValue: range.type)
      if let whole, range.quality > best?.quality ?? 0 { best = (whole, range.quality) }
    }
    guard let whole = best?.whole ?? (takesEvents || takesParts || takesResults ? .json : nil) else { return nil }
    self.init(
      whole, takesParts ? .multipartDeferred : best == nil && takesEvents ? .events : nil,
      takesResults ? .multipartSubscription : takesEvents ? .events : nil)
  }

  /// Whether all results come as events, those of queries and errors too (the distinct connections mode of GraphQL over SSE).
  var takesOnlyEvents: Bool { deferred == .events }

  private init(_ whole: Whole, _ deferred: Pieces?, _ subscription: Pieces?) {
    self.whole = whole
    self.deferred = deferred
    self.subscription = subscription
  }
}
