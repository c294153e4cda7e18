package import FoundationEssentials

extension PullStream<Data> {
  /// All chunks as one value. A single chunk is not copied.
  ///
  /// - Parameter start: The bytes before the chunks.
  package func collected(after start: Data? = nil) async throws -> Data {
    try await collected(after: start) { _ in true } ?? Data()
  }

  /// All chunks as one value; nil if there is no room for one of them.
  ///
  /// - Parameter hasRoom: Whether there is room for so many more bytes.
  package func collected(after start: Data? = nil, _ hasRoom: (Int) -> Bool) async throws -> Data? {
    var all = start
    while true {
      switch try await pull() {
      case .element(let chunk):
        guard hasRoom(chunk.count) else { return nil }
        all.append(chunk)
      case .last(let chunk):
        guard hasRoom(chunk.count) else { return nil }
        all.append(chunk)
        return all ?? Data()
      case .end: return all ?? Data()
      }
    }
  }

  /// The chunks up to a number of bytes, and the one with which they are more.
  ///
  /// - Returns: The chunks as one value, and whether they are all.
  func collected(until bytes: Int) async throws -> (Data, isWhole: Bool) {
    var all: Data?
    while (all?.count ?? 0) <= bytes {
      switch try await pull() {
      case .element(let chunk): all.append(chunk)
      case .last(let chunk):
        all.append(chunk)
        return (all ?? Data(), true)
      case .end: return (all ?? Data(), true)
      }
    }
    return (all ?? Data(), false)
  }
}

extension Data? {
  fileprivate mutating func append(_ chunk: Data) {
    if self == nil { self = chunk } else { self?.append(chunk) }
  }
}
