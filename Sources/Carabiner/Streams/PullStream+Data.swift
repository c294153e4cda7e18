package import FoundationEssentials

extension PullStream<Data> {
  /// All chunks as one value. A single chunk is not copied.
  package func collected() async throws -> Data {
    var all: Data?
    while true {
      switch try await pull() {
      case .element(let chunk): all.append(chunk)
      case .last(let chunk):
        all.append(chunk)
        return all ?? Data()
      case .end: return all ?? Data()
      }
    }
  }
}

extension Data? {
  fileprivate mutating func append(_ chunk: Data) {
    if self == nil { self = chunk } else { self?.append(chunk) }
  }
}
