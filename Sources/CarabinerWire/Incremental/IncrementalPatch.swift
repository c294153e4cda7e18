/// The addition of a part to a response: one entry of its `incremental`.
public struct IncrementalPatch: Sendable, Hashable {
  /// The path of the addition, as a JSON list of names and indices.
  public let path: JSONValue
  /// The label of its `@defer` or `@stream`; nil if it has none.
  public let label: String?
  /// The added content.
  package let content: Content
  /// The number of entries in the response's `errors` that arrived with it.
  package internal(set) var errorCount = 0

  /// The content of a patch.
  package enum Content: Sendable, Hashable {
    /// An object that is merged into the one at the path.
    case data(JSONValue)
    /// Elements that are appended to the list at a path, and the index of the first.
    case items([JSONValue], list: JSONValue, from: Int)
    /// Null, because the server could not produce the data.
    case null
  }

  init(path: ResponsePath, label: String?, content: Content) {
    self.path = path.json
    self.label = label
    self.content = content
  }
}

/// The result of a part.
public struct IncrementalUpdate: Sendable, Hashable {
  /// The whole response so far.
  public let response: MergedResponse
  /// The additions of the part; empty for the first part.
  public let patches: [IncrementalPatch]
  /// Whether more parts follow.
  public let hasNext: Bool
}

/// The members of a response whose parts are merged.
///
/// They are shared with the ``IncrementalResponse``: while this is kept, the next part copies what it changes.
public struct MergedResponse: Sendable, Hashable {
  /// The `data` member; nil if it is absent.
  public let data: JSONValue?
  /// The entries of `errors`.
  public let errors: [JSONValue]
  /// The `extensions` member; nil if it is absent.
  public let extensions: JSONValue?

  /// The whole object as JSON text.
  public var text: [UInt8] {
    var text: [UInt8] = []
    _ = write { piece in for place in piece.indices { text.append(piece[place]) } }
    return text
  }

  /// The ranges of the members in the text; nil for absent ones.
  package struct Ranges {
    package var data: Range<Int>?
    package var errors: Range<Int>?
    package var extensions: Range<Int>?
  }

  /// Writes the whole object as JSON text, in pieces. The text may be large, and this has no copy of it.
  package func write(_ take: (Span<UInt8>) -> Void) -> Ranges {
    var (writer, ranges) = (PiecewiseWriter(), Ranges())
    func member(_ name: StaticString, _ value: JSONValue?) -> Range<Int>? {
      guard let value else { return nil }
      writer.buffer.append(writer.count == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
      writer.buffer.append(contentsOf: "\"\(name)\":".utf8)
      let start = writer.count
      writer.write(value, take)
      return start..<writer.count
    }
    ranges.data = member("data", data)
    ranges.errors = member("errors", errors.isEmpty ? nil : .array(errors))
    ranges.extensions = member("extensions", extensions)
    writer.buffer.append(contentsOf: writer.count == 0 ? "{}".utf8 : "}".utf8)
    writer.flush(take)
    return ranges
  }
}

/// Writes values as text, and passes it on whenever there is much of it.
private struct PiecewiseWriter {
  /// The size from which a piece is passed on.
  private static let pieceBytes = 64 << 10

  /// The text that has not been passed on.
  var buffer: [UInt8] = []
  private var passed = 0

  /// The size of the text so far.
  var count: Int { passed + buffer.count }

  mutating func write(_ value: JSONValue, _ take: (Span<UInt8>) -> Void) {
    switch value {
    case .array(let elements):
      var separator = UInt8(ascii: "[")
      for element in elements {
        buffer.append(separator)
        separator = UInt8(ascii: ",")
        write(element, take)
      }
      buffer.append(contentsOf: elements.isEmpty ? "[]".utf8 : "]".utf8)
    case .object(let object):
      var separator = UInt8(ascii: "{")
      for (key, value) in object {
        buffer.append(separator)
        separator = UInt8(ascii: ",")
        JSONWriter.appendString(key, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        write(value, take)
      }
      buffer.append(contentsOf: object.isEmpty ? "{}".utf8 : "}".utf8)
    case .null, .bool, .number, .string: JSONWriter.append(value, sortedKeys: false, to: &buffer)
    }
    if buffer.count >= Self.pieceBytes { flush(take) }
  }

  mutating func flush(_ take: (Span<UInt8>) -> Void) {
    take(buffer.span)
    passed += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}
