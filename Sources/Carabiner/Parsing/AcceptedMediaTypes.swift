/// The media types that a parser reads beside those every request asks for.
public struct AcceptedMediaTypes: Sendable, Hashable {
  /// Those in front of the request's own, as the field Accept lists them.
  public var preferred: [String]
  /// Those behind the request's own.
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
