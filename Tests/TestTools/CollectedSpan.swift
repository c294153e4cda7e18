internal import Foundation

/// A span as received by a collector, decoded with OpenTelemetry's own messages.
public struct CollectedSpan: Sendable, Decodable {
  /// The attributes of the resource.
  public let resource: [String: String]
  /// The name of the instrumentation scope.
  public let scope: String
  /// The trace id, in hexadecimal digits.
  public let trace: String
  /// The span id, in hexadecimal digits.
  public let id: String
  /// The id of the parent span; empty if there is none.
  public let parent: String
  /// The trace state of other tracing systems.
  public let state: String
  /// The name of the span.
  public let name: String
  /// `SPAN_KIND_SERVER` and the like.
  public let kind: String
  /// The trace flags of the span and of its parent.
  public let flags: Int
  /// The start time, in nanoseconds.
  public let start: String
  /// The end time, in nanoseconds.
  public let end: String
  /// The attributes; a value is text or a list of texts.
  public let attributes: [String: Value]
  /// `STATUS_CODE_ERROR` and the like.
  public let status: String
  /// The message of the status.
  public let message: String
  /// The events of the span.
  public let events: [Event]
  /// The ids of linked spans.
  public let links: [String]

  /// An attribute's value.
  public enum Value: Sendable, Hashable, Decodable, ExpressibleByStringLiteral {
    /// A single value, as text.
    case text(String)
    /// A list of values, each as text.
    case list([String])

    public init(stringLiteral text: String) { self = .text(text) }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      self = if let text = try? container.decode(String.self) { .text(text) } else { .list(try container.decode([String].self)) }
    }
  }

  /// An event within a span.
  public struct Event: Sendable, Decodable {
    /// The name of the event.
    public let name: String
    /// The attributes of the event.
    public let attributes: [String: Value]
  }

  /// Whether this span began and ended during another.
  public func lies(within outer: CollectedSpan) -> Bool {
    guard let start = UInt64(start), let end = UInt64(end), let from = UInt64(outer.start), let to = UInt64(outer.end) else {
      return false
    }
    return from <= start && start <= end && end <= to
  }

  /// Decodes the spans in bodies of OTLP requests.
  ///
  /// - Throws: ``Unreadable`` if a body is not valid.
  public static func read(_ bodies: [[UInt8]]) async throws -> [CollectedSpan] {
    let input = bodies.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
    let run = try await ToolRun(
      Repository.python, [Repository.root.appending(path: "Tests/Peers/otlp_spans.py").path], input: input)
    guard run.status == 0 else { throw Unreadable(errors: run.errors) }
    return try run.output.split(separator: "\n").map {
      try JSONDecoder().decode(CollectedSpan.self, from: Data($0.utf8))
    }
  }

  /// A body is not a valid OTLP request.
  public struct Unreadable: Error {
    /// The errors of OpenTelemetry's decoder.
    public let errors: String
  }
}
