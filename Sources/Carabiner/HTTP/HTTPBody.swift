public import FoundationEssentials

/// The body of an HTTP request.
public enum HTTPBody: Sendable, Hashable {
  /// Bytes in memory.
  case data(Data)
  /// Parts, some of which are read from files while they are sent.
  case segmented(SegmentedBody)
  /// Chunks that are made while they are sent.
  case streamed(StreamedBody)

  /// A body of unknown length: a chunked body in HTTP/1.1, and DATA frames in HTTP/2. It is sent once.
  ///
  /// ``URLRequest/timeoutInterval`` includes the time in which the stream has no chunk.
  public static func stream(_ chunks: PullStream<Data>) -> HTTPBody { .streamed(StreamedBody(chunks)) }

  /// The bytes, if they are in memory; nil for a body that is read while it is sent.
  public var data: Data? { if case .data(let data) = self { data } else { nil } }

  /// The bytes, with those of all parts; nil if a part is read while it is sent.
  var bytesInMemory: Data? {
    guard case .segmented(let body) = self else { return data }
    var bytes = Data()
    bytes.reserveCapacity(body.length)
    for segment in body.segments {
      guard case .data(let part) = segment else { return nil }
      bytes.append(part)
    }
    return bytes
  }

  /// The length of the body in bytes; nil for a stream.
  public var length: Int? {
    switch self {
    case .data(let data): data.count
    case .segmented(let body): body.length
    case .streamed: nil
    }
  }
}

/// A body of known length that is never completely in memory.
public struct SegmentedBody: Sendable, Hashable {
  /// A part of the body.
  public enum Segment: Sendable, Hashable {
    /// Bytes in memory.
    case data(Data)
    /// A regular file that must have exactly this many bytes while it is sent.
    case file(path: String, length: Int)

    /// The length of the part in bytes.
    public var length: Int {
      switch self {
      case .data(let data): data.count
      case .file(_, let length): length
      }
    }
  }

  /// The parts, in order.
  public private(set) var segments: [Segment] = []
  /// The total length of the parts in bytes.
  public private(set) var length = 0

  /// Creates an empty body.
  public init() {}

  /// Adds a part at the end.
  public mutating func append(_ segment: Segment) {
    segments.append(segment)
    length += segment.length
  }
}
