public import CarabinerWire
public import FoundationEssentials

/// A point in time as a text such as `2026-01-31T12:00:00Z`, with or without a fraction of a second.
public struct ISO8601Date: ScalarCoding, ResponseValue, Codable {
  private let date: Date

  /// Reads the text.
  ///
  /// - Throws: `DecodingError` if it is not a point in time.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let date = (try? Date(text, strategy: Self.whole)) ?? (try? Date(text, strategy: Self.fraction)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text.debugDescription) is not an ISO 8601 date")
    }
    self.date = date
  }

  private init(_ date: Date) { self.date = date }

  public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }

  public static func json(of value: ISO8601Date) -> JSONValue? { .string(value.text) }

  public static func value(of coded: ISO8601Date) -> Date { coded.date }

  public static func coded(_ value: Date) -> ISO8601Date { ISO8601Date(value) }

  private var text: String {
    let isWhole = date.timeIntervalSinceReferenceDate.rounded() == date.timeIntervalSinceReferenceDate
    return date.formatted(isWhole ? Self.whole : Self.fraction)
  }

  private static let whole = Date.ISO8601FormatStyle()
  private static let fraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
