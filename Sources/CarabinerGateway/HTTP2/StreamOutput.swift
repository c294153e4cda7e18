internal import NIOCore

/// The parts of a response that the session has not taken.
struct StreamOutput {
  /// Bytes, and the promise that is fulfilled when they are written.
  private struct Piece {
    var bytes: ByteBuffer
    let promise: EventLoopPromise<Void>?
  }

  /// The number of bytes.
  private(set) var waiting = 0
  /// Whether the response has begun.
  var hasBegun = false
  /// Whether no further part follows.
  var isEnded = false
  /// Whether the session has asked for bytes when there were none.
  var isDeferred = false
  /// The first piece. Most responses have only one.
  private var first: Piece?
  private var later = CircularBuffer<Piece>(initialCapacity: 0)

  mutating func add(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
    waiting += bytes.readableBytes
    let piece = Piece(bytes: bytes, promise: promise)
    if first == nil { first = piece } else { later.append(piece) }
  }

  /// Whether all parts are taken.
  var isComplete: Bool { isEnded && first == nil }

  /// Takes the next bytes.
  ///
  /// - Parameter taken: Gets the promises of the pieces that end in these bytes.
  /// - Returns: How many bytes were taken.
  @unsafe mutating func take(_ target: UnsafeMutableRawBufferPointer, _ taken: inout [EventLoopPromise<Void>]) -> Int {
    var count = 0
    while let size = first?.bytes.readableBytes {
      let step = min(size, target.count - count)
      unsafe first?.bytes.readWithUnsafeReadableBytes { bytes in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[count..<(count + step)]).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: bytes[..<step]))
        return step
      }
      count += step
      guard step == size else { break }
      if let promise = first?.promise { taken.append(promise) }
      first = later.popFirst()
    }
    waiting -= count
    return count
  }

  /// Removes all parts.
  mutating func fail(_ error: any Error) {
    waiting = 0
    let (piece, others) = (first, later)
    first = nil
    later = CircularBuffer(initialCapacity: 0)
    piece?.promise?.fail(error)
    for piece in others { piece.promise?.fail(error) }
  }
}
