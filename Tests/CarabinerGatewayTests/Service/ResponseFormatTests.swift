import Testing

@testable import CarabinerGateway

/// The response format that an Accept field selects (RFC 9110, 12.5.1).
@Suite("Accept")
struct ResponseShapeTests {
  private static let parts = "multipart/mixed;deferSpec=20220824"
  private static let later = "multipart/mixed;incrementalSpec=v0.2"
  private static let results = "multipart/mixed;subscriptionSpec=1.0"
  private static let events = "text/event-stream"
  private static let newer = "application/graphql-response+json"

  @Test(
    "the most exact range decides about a type, its quality about which is chosen, and 0 excludes it",
    arguments: [
      (nil, .json), ("*/*", .json), ("application/*", .json), (newer, .graphQLResponse),
      ("\(newer), application/json", .graphQLResponse), ("application/json, \(newer)", .json),
      ("application/json;q=0.5, \(newer);q=0.6", .graphQLResponse), ("\(newer);q=0.5, application/json;q=0.6", .json),
      ("application/json;q=0, */*", .graphQLResponse), ("*/*, application/json;q=0", .graphQLResponse),
      ("*/*;q=0.1, \(newer)", .graphQLResponse), ("*/*, \(newer);q=0.1", .json),
      ("application/*;q=0, */*", nil), ("application/json;q=0", nil), ("*/*;q=0", nil), ("text/html", nil),
      ("application/json;q=0, \(newer);q=0, */*", nil), ("application/json;q=x", nil),
    ] as [(String?, ResponseFormat.Whole?)])
  func whole(_ accept: String?, _ whole: ResponseFormat.Whole?) {
    #expect(ResponseFormat(accept: accept)?.whole == whole)
  }

  @Test(
    "quality decides between parts and events for a subscription",
    arguments: [
      ("\(results), \(events)", .multipartSubscription), ("\(events), \(results)", .multipartSubscription),
      ("\(results);q=0.5, \(events)", .events), ("\(results), \(events);q=0.5", .multipartSubscription),
      ("\(results);q=0, \(events)", .events), ("\(events);q=0, \(results)", .multipartSubscription),
      ("\(events);q=0, application/json", nil), ("\(results);q=0, */*", nil), ("application/json, \(events);q=0.1", .events),
      ("*/*", nil), ("text/*", nil), ("multipart/mixed, */*", nil),
    ] as [(String, ResponseFormat.Pieces?)])
  func subscription(_ accept: String, _ pieces: ResponseFormat.Pieces?) {
    #expect(ResponseFormat(accept: accept)?.subscription == pieces)
  }

  @Test(
    "a deferred result comes in parts unless the client wants it whole more",
    arguments: [
      ("\(parts), application/json", .multipartDeferred), ("application/json, \(parts)", .multipartDeferred),
      ("\(parts);q=0.5, application/json", nil), ("\(parts), application/json;q=0.5", .multipartDeferred),
      ("\(parts);q=0, application/json", nil), (parts, .multipartDeferred), (events, .events),
      ("\(parts);q=0.5, \(events)", .events), ("\(parts), \(events);q=0.5", .multipartDeferred),
      ("\(events), application/json", nil), (later, .multipartIncremental), ("\(later), application/json", .multipartIncremental),
      ("\(later), \(parts), application/json", .multipartIncremental), ("\(parts), \(later)", .multipartDeferred),
      ("\(later);q=0.5, \(parts);q=0.6", .multipartDeferred), ("\(later);q=0, \(parts)", .multipartDeferred),
      ("\(later);q=0.5, application/json", nil), ("multipart/mixed;incrementalSpec=v9, application/json", nil),
      ("\(later);q=0.5, \(events)", .events), ("\(events);q=0.5, \(later)", .multipartIncremental),
    ] as [(String, ResponseFormat.Pieces?)])
  func deferred(_ accept: String, _ pieces: ResponseFormat.Pieces?) throws {
    let shape = try #require(ResponseFormat(accept: accept))
    #expect(shape.deferred == pieces)
  }
}
