internal import CarabinerWire
internal import FoundationEssentials

/// One result of a response that arrives in parts.
package struct StreamedResult: Sendable {
  package let body: ResponseBody
  let delivery: ResultDelivery
}

/// Finds results in the bytes of a response.
protocol StreamedResultReader: Sendable {
  /// Adds bytes that have arrived.
  mutating func append(_ chunk: Data)
  /// Notes that no bytes follow.
  mutating func finish()
  mutating func next() throws -> StreamedStep
}

enum StreamedStep: Sendable {
  case result(StreamedResult)
  case needsBytes
  /// The server has announced the end.
  case end
}

/// The results of a response in parts, or of a stream of events, each as soon as it has arrived.
package final class StreamedResults: @unchecked Sendable {
  // One consumer at a time uses the properties, so the runtime need not check each access.

  private let chunks: PullStream<Data>
  private let limits: ResponseLimits
  @safe @exclusivity(unchecked) private var reader: any StreamedResultReader
  @safe @exclusivity(unchecked) private var areChunksOver = false
  /// The end that ``nextPassed()`` has seen, for ``next()``.
  @safe @exclusivity(unchecked) private var end: Result<Void, any Error>?

  init(_ chunks: PullStream<Data>, _ reader: any StreamedResultReader, limits: ResponseLimits) {
    self.chunks = chunks
    self.reader = reader
    self.limits = limits
  }

  /// The next result; nil at the end. Fails if it does not arrive within the idle timeout.
  func next() async throws -> StreamedResult? {
    if let end {
      try end.get()
      return nil
    }
    guard let idleTimeout = limits.idleTimeout else { return try await advance() }
    return try await Deadline(after: idleTimeout).bounding(RequestChainError.idle(idleTimeout)) { try await self.advance() }
  }

  /// The next result, for a caller that reads them without the stages of the chain, because none of them reads results.
  ///
  /// - Returns: Nil if the caller must read the chain's results again. They end, or throw the error, which stages may handle.
  package func nextPassed() async -> StreamedResult? {
    do {
      if let result = try await next() { return result }
      end = .success(())
    } catch {
      end = .failure(error)
    }
    return nil
  }

  private func advance() async throws -> StreamedResult? {
    while true {
      switch try reader.next() {
      case .result(let result): return result
      case .needsBytes: try await pullChunk()
      case .end:
        await drain()
        return nil
      }
    }
  }

  private func pullChunk() async throws {
    switch try await chunks.pull() {
    case .element(let chunk): reader.append(chunk)
    case .last(let chunk):
      reader.append(chunk)
      finish()
    case .end: finish()
    }
  }

  private func finish() {
    areChunksOver = true
    reader.finish()
  }

  /// Reads the rest of a body, so that the connection can be reused. If the server does not end the body in time, it is dropped.
  private func drain() async {
    guard !areChunksOver else { return }
    areChunksOver = true
    _ = try? await Deadline(after: limits.epilogueTimeout).bounding(RequestChainError.idle(limits.epilogueTimeout)) {
      [chunks] in
      var left = ResponseLimits.maximumEpilogueBytes
      for try await chunk in chunks {
        left -= chunk.count
        if left < 0 { break }
      }
    }
  }
}
