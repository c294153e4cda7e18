internal import CarabinerWire
internal import NIOCore
internal import Synchronization

/// The body of a request, between the connection that receives it and the operation that reads it.
///
/// The connection stops reading while the operation has not read a number of bytes, so the client is as fast as the upstream.
package final class InboundBody: Sendable {
  /// The number of unread bytes at which an HTTP/1.1 connection stops reading. One read of the socket may exceed it.
  static let usualWindow = 256 << 10
  /// A piece up to this size is added to the one before it, because each piece takes memory beside its bytes.
  static let smallPiece = 4 << 10

  private struct State {
    var chunks = CircularBuffer<ByteBuffer>(initialCapacity: 0)
    var bytes = 0
    /// Set when no more bytes follow.
    var end: Result<Void, any Error>?
    /// Whether bytes are discarded, because the operation does not read them any more.
    var isDiscarding = false
    /// Whether the connection waits until bytes are read.
    var isSuspended = false
    var reader: CheckedContinuation<ByteBuffer?, any Error>?

    mutating func add(_ piece: ByteBuffer) {
      bytes += piece.readableBytes
      guard piece.readableBytes <= smallPiece, chunks.last?.readableBytes ?? .max <= smallPiece, var joined = chunks.popLast()
      else {
        return chunks.append(piece)
      }
      // The list has no reference to this buffer any more. With a second reference, each piece would copy the buffer.
      joined.writeImmutableBuffer(piece)
      chunks.append(joined)
    }

    mutating func takeReader() -> CheckedContinuation<ByteBuffer?, any Error>? {
      defer { reader = nil }
      return reader
    }
  }

  private let state = Mutex(State())
  private let window: Int
  private let resume: @Sendable () -> Void

  /// - Parameters:
  ///   - window: The number of unread bytes at which the connection stops reading.
  ///   - resume: Called from any thread when the connection may read again, if ``isFull`` has stopped it.
  init(window: Int = usualWindow, resume: @escaping @Sendable () -> Void) {
    self.window = window
    self.resume = resume
  }

  // MARK: The connection

  /// Adds bytes.
  func add(_ bytes: ByteBuffer) {
    guard bytes.readableBytes > 0 else { return }
    let reader = state.withLock { state -> CheckedContinuation<ByteBuffer?, any Error>? in
      guard state.end == nil, !state.isDiscarding else { return nil }
      if let reader = state.takeReader() { return reader }
      state.add(bytes)
      return nil
    }
    reader?.resume(returning: bytes)
  }

  /// Ends the body.
  ///
  /// - Parameter result: A failure if the client did not send the whole body.
  func end(_ result: Result<Void, any Error>) {
    let (reader, mayRead) = state.withLock { state -> (CheckedContinuation<ByteBuffer?, any Error>?, Bool) in
      guard state.end == nil else { return (nil, false) }
      state.end = result
      guard case .failure = result else { return (state.takeReader(), false) }
      state.chunks.removeAll()
      state.bytes = 0
      return (state.takeReader(), resumes(&state))
    }
    reader?.resume(with: result.map { nil })
    // The rest is read and dropped.
    if mayRead { resume() }
  }

  /// Whether the connection must stop reading. `resume` is called when it may read again.
  func isFull() -> Bool {
    state.withLock { state in
      state.isSuspended = state.end == nil && state.bytes >= window
      return state.isSuspended
    }
  }

  // MARK: The operation

  /// The next bytes; nil at the end of the body.
  ///
  /// - Throws: The reason why the client did not send the whole body; `CancellationError` if the task was cancelled.
  func next() async throws -> ByteBuffer? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { reader in
        let (result, mayRead) = state.withLock { state -> (Result<ByteBuffer?, any Error>?, Bool) in
          if Task.isCancelled { return (.failure(CancellationError()), false) }
          if let chunk = state.chunks.popFirst() {
            state.bytes -= chunk.readableBytes
            return (.success(chunk), resumes(&state))
          }
          if let end = state.end { return (end.map { nil }, false) }
          state.reader = reader
          return (nil, resumes(&state))
        }
        if mayRead { resume() }
        if let result { reader.resume(with: result) }
      }
    } onCancel: {
      state.withLock { $0.takeReader() }?.resume(throwing: CancellationError())
    }
  }

  /// Drops all further bytes.
  func discardRest() {
    let mayRead = state.withLock { state in
      state.isDiscarding = true
      state.chunks.removeAll()
      state.bytes = 0
      return resumes(&state)
    }
    if mayRead { resume() }
  }

  /// Whether the connection must be notified that it may read again. Half of the window is free then, so notifications are rare.
  private func resumes(_ state: inout State) -> Bool {
    guard state.isSuspended, state.bytes <= window / 2 else { return false }
    state.isSuspended = false
    return true
  }
}
