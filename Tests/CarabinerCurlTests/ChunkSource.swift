import Carabiner
import Foundation
import Synchronization

/// A stream of chunks that a test feeds, and that notes how it is pulled.
final class ChunkSource: Sendable {
  private let stream: AsyncThrowingStream<Data, any Error>
  private let continuation: AsyncThrowingStream<Data, any Error>.Continuation
  private let pulled = Counter()
  private let ended = Counter()

  init(_ chunks: [Data] = []) {
    (stream, continuation) = AsyncThrowingStream.makeStream()
    for chunk in chunks { continuation.yield(chunk) }
  }

  /// How often a chunk was asked for.
  var pulls: Int { pulled.value }
  /// Whether a task waits for a chunk.
  ///
  /// A transport that ends a request also ends this wait. It may also end the request before it asked for the chunk.
  var isAwaited: Bool { ended.value < pulls }

  func feed(_ text: String) { continuation.yield(Data(text.utf8)) }

  func finish(throwing error: (any Error)? = nil) { continuation.finish(throwing: error) }

  /// The chunks; each is pulled once.
  var chunks: PullStream<Data> {
    PullStream { [self] in
      _ = pulled.increment()
      defer { _ = ended.increment() }
      var iterator = stream.makeAsyncIterator()
      return try await iterator.next().map { .element($0) } ?? .end
    }
  }
}

/// A number that closures count up.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  /// The new value.
  func increment() -> Int { count.add(1, ordering: .relaxed).newValue }
}
