internal import CarabinerWire

/// How a whole response is written.
enum ResponseFormat: String, Sendable {
  case json = "application/json"
  case graphQLResponse = "application/graphql-response+json"
  case cbor = "application/cbor"

  /// The media type with its parameters.
  var contentType: String { self == .cbor ? rawValue : "\(rawValue); charset=utf-8" }

  /// The status of a response without data: GraphQL over HTTP wants 200 where clients of old take anything else for a proxy's.
  var requestErrorStatus: Int { self == .graphQLResponse ? 400 : 200 }

  func encode(_ value: JSONValue) throws(CBOREncoder.TooLarge) -> [UInt8] {
    self == .cbor ? try CBOREncoder.encode(value) : value.serialized()
  }
}

/// What a client takes.
struct Acceptance: Sendable, Hashable {
  let format: ResponseFormat
  /// Whether it takes deferred parts.
  let takesDeferred: Bool
  /// Whether it takes a subscription's results.
  let takesSubscription: Bool

  /// What an Accept header says; nil if it takes nothing this server has.
  init?(accept: String?) {
    let ranges = MediaRange.list(accept ?? "*/*").filter { $0.quality > 0 }
    takesDeferred = ranges.contains { $0.type == "multipart/mixed" && $0.parameters["deferspec"] == "20220824" }
    takesSubscription = ranges.contains { $0.type == "multipart/mixed" && $0.parameters["subscriptionspec"] == "1.0" }
    var best: (format: ResponseFormat, quality: Double)?
    for range in ranges {
      let format = ["*/*", "application/*"].contains(range.type) ? .json : ResponseFormat(rawValue: range.type)
      // Of equals the first wins.
      if let format, range.quality > best?.quality ?? 0 { best = (format, range.quality) }
    }
    guard let format = best?.format ?? (takesDeferred || takesSubscription ? .json : nil) else { return nil }
    self.format = format
  }
}
