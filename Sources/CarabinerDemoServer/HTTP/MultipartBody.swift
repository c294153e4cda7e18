internal import CarabinerWire

/// A multipart body that is generated when the reader asks for the next part.
struct MultipartBody: AsyncSequence, Sendable {
  typealias Element = [UInt8]

  let writer: MultipartWriter
  let source: any PartSource

  func makeAsyncIterator() -> Iterator { Iterator(writer: writer, source: source) }

  struct Iterator: AsyncIteratorProtocol {
    private enum Position {
      case before, inside, after
    }

    fileprivate let writer: MultipartWriter
    fileprivate var source: any PartSource
    private var position = Position.before

    fileprivate init(writer: MultipartWriter, source: any PartSource) {
      self.writer = writer
      self.source = source
    }

    mutating func next() async -> [UInt8]? {
      switch position {
      case .before:
        position = .inside
        return writer.opening
      case .inside:
        if let part = await source.next() { return writer.part(part.serialized()) }
        position = .after
        return writer.closing
      case .after: return nil
      }
    }
  }
}
