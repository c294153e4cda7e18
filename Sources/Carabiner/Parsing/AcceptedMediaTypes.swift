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
