/// The media types that a parser accepts in addition to those of every request.
public struct AcceptedMediaTypes: Sendable, Hashable {
  /// The media types before the request's own ones in the Accept field.
  public var preferred: [String]
  /// The media types after the request's own ones.
  public var further: [String]

  /// These media types.
  public init(preferred: [String] = [], further: [String] = []) {
    self.preferred = preferred
    self.further = further
  }

  /// Whether there are none.
  public var isEmpty: Bool { preferred.isEmpty && further.isEmpty }

  /// The value of Accept with these types added.
  func added(to accept: String?) -> String {
    (preferred + (accept.map { [$0] } ?? []) + further).joined(separator: ",")
  }
}

extension AcceptedMediaTypes {
  /// The Accept field of a query or mutation that has one result.
  package static let singleResult = "application/graphql-response+json,application/json"
  /// The Accept field of a query or mutation with `@defer` or `@stream`.
  ///
  /// The newer format is first: servers that support it may reject a request that prefers the older one. Other servers ignore it.
  package static let incremental = "multipart/mixed;incrementalSpec=v0.2,multipart/mixed;deferSpec=20220824," + singleResult
  /// The Accept field of a subscription whose results come in parts.
  // Some servers recognise the type only by this boundary; others ignore it.
  package static let subscription = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0," + singleResult
}
