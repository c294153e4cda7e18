internal import CarabinerWire

/// The format of a single response.
enum ResponseFormat: String, Sendable {
  case json = "application/json"
  case graphQLResponse = "application/graphql-response+json"
  case cbor = "application/cbor"

  /// The media type with its parameters.
  var contentType: String { self == .cbor ? rawValue : "\(rawValue); charset=utf-8" }

  /// The status of a response without data. GraphQL over HTTP requires 200 for application/json, because older clients take other
  /// statuses for errors of a proxy.
  var requestErrorStatus: Int { self == .graphQLResponse ? 400 : 200 }

  func encode(_ value: JSONValue) throws(CBOREncoder.TooLarge) -> [UInt8] {
    self == .cbor ? try CBOREncoder.encode(value) : value.serialized()
  }
}

/// The formats that a client accepts.
struct Acceptance: Sendable, Hashable {
  let format: ResponseFormat
  /// Whether the client accepts deferred parts.
  let takesDeferred: Bool
  /// Whether the client accepts subscriptions.
  let takesSubscription: Bool

  /// Parses an Accept header; nil if it accepts no format of this server.
  init?(accept: String?) {
    let ranges = MediaRange.list(accept ?? "*/*").filter { $0.quality > 0 }
    takesDeferred = ranges.contains { $0.type == "multipart/mixed" && $0.parameters["deferspec"] == "20220824" }
    takesSubscription = ranges.contains { $0.type == "multipart/mixed" && $0.parameters["subscriptionspec"] == "1.0" }
    var best: (format: ResponseFormat, quality: Double)?
    for range in ranges {
      let format = ["*/*", "application/*"].contains(range.type) ? .json : ResponseFormat(rawValue: range.type)
      // The first of several equal ranges is used.
      if let format, range.quality > best?.quality ?? 0 { best = (format, range.quality) }
    }
    guard let format = best?.format ?? (takesDeferred || takesSubscription ? .json : nil) else { return nil }
    self.format = format
  }
}
