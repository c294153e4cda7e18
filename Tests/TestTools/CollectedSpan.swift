internal import Foundation

/// A span as a collector gets it, read by OpenTelemetry's own messages.
public struct CollectedSpan: Sendable, Decodable {
  /// What was said of whoever made it.
  public let resource: [String: String]
  /// Who made it, within that.
  public let scope: String
  /// The id of its trace, with hexadecimal digits.
  public let trace: String
  /// Its id, with hexadecimal digits.
  public let id: String
  /// The id of the span it happened within; empty if there is none.
  public let parent: String
  /// What other tracing systems noted.
  public let state: String
  /// What it is called.
  public let name: String
  /// `SPAN_KIND_SERVER` and the like.
  public let kind: String
  /// The flags of its trace and of its parent.
  public let flags: Int
  /// The time it began, in nanoseconds.
  public let start: String
  /// The time it ended, in nanoseconds.
  public let end: String
  /// Its attributes that are no lists, each as text.
  public let attributes: [String: Value]
  /// `STATUS_CODE_ERROR` and the like.
  public let status: String
  /// What is said with the status.
  public let message: String
  /// What happened within it.
  public let events: [Event]
  /// The ids of spans it has to do with.
  public let links: [String]

  /// An attribute's value.
  public enum Value: Sendable, Hashable, Decodable, ExpressibleByStringLiteral {
    /// One value, as text.
    case text(String)
    /// Several, each as text.
    case list([String])

    public init(stringLiteral text: String) { self = .text(text) }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      self = if let text = try? container.decode(String.self) { .text(text) } else { .list(try container.decode([String].self)) }
    }
  }

  /// Something that happened at one moment.
  public struct Event: Sendable, Decodable {
    /// What it is called.
    public let name: String
    /// Its attributes.
    public let attributes: [String: Value]
  }

  /// Whether it began and ended within another.
  public func lies(within outer: CollectedSpan) -> Bool {
    guard let start = UInt64(start), let end = UInt64(end), let from = UInt64(outer.start), let to = UInt64(outer.end) else {
      return false
    }
    return from <= start && start <= end && end <= to
  }

  /// The spans in bodies of OTLP requests.
  ///
  /// - Throws: ``Unreadable`` if one of them is none.
  public static func read(_ bodies: [[UInt8]]) async throws -> [CollectedSpan] {
    let input = bodies.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
    let run = try await ToolRun(
      Repository.python, [Repository.root.appending(path: "Tests/Peers/otlp_spans.py").path], input: input)
    guard run.status == 0 else { throw Unreadable(errors: run.errors) }
    return try run.output.split(separator: "\n").map {
      try JSONDecoder().decode(CollectedSpan.self, from: Data($0.utf8))
    }
  }

  /// A body is no request of OTLP.
  public struct Unreadable: Error {
    /// What OpenTelemetry's messages say.
    public let errors: String
  }
}
