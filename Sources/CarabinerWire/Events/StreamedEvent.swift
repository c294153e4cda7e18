/// An event of an event stream (`text/event-stream`).
public struct StreamedEvent: Sendable, Hashable {
  /// The type of an event that the server gave no name.
  public static let unnamed = "message"

  /// The type; ``unnamed`` if the server named none.
  public let type: String
  /// The data, its lines joined with line feeds.
  public let data: [UInt8]

  /// Creates an event.
  public init(type: String, data: [UInt8]) {
    self.type = type
    self.data = data
  }
}

/// An event of a stream exceeds the limit.
public struct EventTooLarge: Error, Sendable, Hashable, CustomStringConvertible {
  /// The limit in bytes.
  public let limit: Int

  public var description: String { "an event of the stream is longer than \(limit) bytes; check the server" }
}
