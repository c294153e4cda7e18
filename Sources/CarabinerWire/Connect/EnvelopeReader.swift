/// Splits a stream into envelopes.
///
/// Add received bytes with ``append(_:)``, call ``next()`` until it returns nil, and call ``finish()`` at the end of the body. The
/// envelopes and the error do not depend on how the bytes are divided into chunks. Reading takes linear time, and the reader holds
/// one envelope and one chunk in memory.
package struct EnvelopeReader: Sendable {
  private let allowedFlags: UInt8
  private let maximumBytes: Int
  /// The bytes that are received and not consumed, from `start` on.
  private var buffer: [UInt8] = []
  private var start = 0
  private var isFinished = false
  private var isClosed = false
  private var failure: EnvelopeError?

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - allowedFlags: The bits that the protocol defines.
  ///   - maximumBytes: The largest length of a message.
  package init(allowedFlags: UInt8, maximumBytes: Int) {
    self.allowedFlags = allowedFlags
    self.maximumBytes = maximumBytes
  }

  /// Adds received bytes.
  package mutating func append(_ bytes: some Collection<UInt8>) {
    guard failure == nil, !isClosed else { return }
    // The buffer is moved only when most of it is consumed, so that each byte is moved once on average.
    if start >= buffer.count - start {
      buffer.removeSubrange(..<start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Ends the body.
  package mutating func finish() { isFinished = true }

  /// Drops what is received and what follows.
  package mutating func close() {
    isClosed = true
    drop()
  }

  /// Returns the next envelope; nil if more bytes are needed, or if the body has ended after an envelope.
  ///
  /// - Throws: ``EnvelopeError``. All later calls throw the same error.
  package mutating func next() throws(EnvelopeError) -> Envelope? {
    if let failure { throw failure }
    do throws(EnvelopeError) {
      return try readEnvelope()
    } catch {
      failure = error
      drop()
      throw error
    }
  }

  private mutating func readEnvelope() throws(EnvelopeError) -> Envelope? {
    let available = buffer.count - start
    guard available >= Envelope.prefixLength else {
      if isFinished, available > 0 { throw .truncated }
      return nil
    }
    let flags = buffer[start]
    guard flags & ~allowedFlags == 0 else { throw .unknownFlags(flags) }
    let length = buffer[(start + 1)..<(start + Envelope.prefixLength)].reduce(0) { $0 << 8 | Int($1) }
    guard length <= maximumBytes else { throw .tooLong(declared: length, limit: maximumBytes) }
    guard available - Envelope.prefixLength >= length else {
      if isFinished { throw .truncated }
      return nil
    }
    let first = start + Envelope.prefixLength
    start = first + length
    return Envelope(flags: flags, bytes: Array(buffer[first..<start]))
  }

  private mutating func drop() {
    buffer = []
    start = 0
  }
}
