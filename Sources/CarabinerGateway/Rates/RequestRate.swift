/// A rate limit for the requests of a client.
public struct RequestRate: Sendable, Hashable, CustomStringConvertible {
  /// The number of requests per unit of time.
  public let count: Int
  /// The unit: a second, a minute or an hour.
  public let unit: Unit
  /// The number of requests that a client may send at once after a pause.
  public var burst: Int
  /// The header field that identifies a client; nil to use the address.
  public var keyField: String?

  /// A unit of time.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    case second = "s"
    case minute = "m"
    case hour = "h"

    var nanoseconds: UInt64 {
      switch self {
      case .second: 1_000_000_000
      case .minute: 60_000_000_000
      case .hour: 3_600_000_000_000
      }
    }
  }

  /// The valid range of ``count``.
  public static let counts = 1...1_000_000

  /// Parses `100/s`, `600/m` or `5000/h`; nil if the text is malformed. ``burst`` is set to the same number.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let count = Int(parts[0]), Self.counts.contains(count), let unit = Unit(rawValue: String(parts[1])),
      parts[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    self.count = count
    self.unit = unit
    burst = count
  }

  public var description: String { "\(count)/\(unit.rawValue)" }

  var nanosecondsPerToken: UInt64 { unit.nanoseconds / UInt64(count) }
}
