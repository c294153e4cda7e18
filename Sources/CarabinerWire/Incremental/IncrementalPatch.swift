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
  /// The whole response so far, as JSON text.
  public let response: MergedResponse
  /// The additions of the part; empty for the first part.
  public let patches: [IncrementalPatch]
  /// Whether more parts follow.
  public let hasNext: Bool
}

/// A response as text, with the ranges of its members.
public struct MergedResponse: Sendable, Hashable {
  /// The whole object.
  public let text: [UInt8]
  /// The range of `data`; nil if it is absent.
  public let data: Range<Int>?
  /// The range of `errors`; nil if it is absent.
  public let errors: Range<Int>?
  /// The range of `extensions`; nil if it is absent.
  public let extensions: Range<Int>?

  init(data: JSONValue?, errors: [JSONValue], extensions: JSONValue?, capacity: Int) {
    var text: [UInt8] = []
    text.reserveCapacity(capacity)
    func member(_ name: StaticString, _ value: JSONValue?) -> Range<Int>? {
      guard let value else { return nil }
      text.append(text.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
      text.append(contentsOf: "\"\(name)\":".utf8)
      let start = text.count
      JSONWriter.append(value, sortedKeys: false, indent: nil, to: &text)
      return start..<text.count
    }
    self.data = member("data", data)
    self.errors = member("errors", errors.isEmpty ? nil : .array(errors))
    self.extensions = member("extensions", extensions)
    text.append(contentsOf: text.isEmpty ? "{}".utf8 : "}".utf8)
    self.text = text
  }
}
