internal import CarabinerWire
internal import FoundationEssentials

/// Reads the response of a Connect stream.
struct ConnectStreamReader: ResponseReader {
  private let options: ProtocolOptions
  private var decoder = ContentDecoder()
  private var envelopes: EnvelopeReader
  private var end = ResponseEnd()
  private var events = EventQueue()
  /// The end if the exchange turns out to have succeeded, although its head is not that of a success.
  private var refusal: ResponseEvent?
  /// The code of the exchange, when the body has ended.
  private var finished: Code?
  private(set) var isComplete = false

  init(_ options: ProtocolOptions) {
    self.options = options
    envelopes = EnvelopeReader(
      allowedFlags: Envelope.compressed | Envelope.endOfStream, maximumBytes: options.maximumMessageBytes)
  }

  mutating func begin(_ status: ResponseStatus, headers fields: Headers) {
    end.headers = HeaderFields.merged(fields)
    events.add(.headers(end.headers))
    if let code = status.inferredCode, code != .ok { return complete(end.failure(status, code)) }
    let (contentType, type) = end.headers.contentType
    let expected = "application/connect+\(HeaderFields.lowercased(options.codecName))"
    guard type == expected else {
      return refuse(
        status,
        end.failure(contentType: contentType, expected: expected, isOfProtocol: type?.hasPrefix("application/connect+") == true))
    }
    do throws(ConnectError) {
      decoder = try ContentDecoder(
        encoding: end.headers[HeaderConstants.connectStreamingContentEncoding], pools: options.responsePools)
    } catch {
      complete(end.failure(error))
    }
  }

  mutating func append(_ chunk: Data) { envelopes.append(chunk) }

  mutating func finish(code: Code) {
    finished = code
    envelopes.finish()
  }

  mutating func next() -> ResponseEvent? {
    if let event = events.next() { return event }
    guard !isComplete else { return nil }
    do throws(ConnectError) {
      if let envelope = try nextEnvelope() { return try read(envelope) }
      guard let finished else { return nil }
      let cut = end.cutOff("the stream was cut off: it has no end-of-stream message", finished)
      complete(finished == .ok ? refusal ?? cut : cut)
    } catch {
      complete(end.failure(error))
    }
    return events.next()
  }

  private mutating func nextEnvelope() throws(ConnectError) -> Envelope? {
    do throws(EnvelopeError) {
      return try envelopes.next()
    } catch {
      throw ConnectError(error)
    }
  }

  private mutating func read(_ envelope: Envelope) throws(ConnectError) -> ResponseEvent? {
    let isEnd = envelope.flags & Envelope.endOfStream != 0
    let limit = isEnd ? options.maximumTrailerBytes : options.maximumMessageBytes
    let bytes = try decoder.decoded(envelope, maximumBytes: limit)
    guard isEnd else { return .message(bytes) }
    guard let message = EndOfStream(parsing: [UInt8](bytes)) else {
      throw ConnectError(code: .internalError, message: "the end-of-stream message is malformed")
    }
    end.trailers = message.metadata
    complete(message.error.map { end.failure($0, inferred: .unknown) } ?? end.success)
    return events.next()
  }

  /// Ends the call because of its head, at once if the exchange is known to have succeeded.
  private mutating func refuse(_ status: ResponseStatus, _ event: ResponseEvent) {
    guard status == .unknown else { return complete(event) }
    refusal = event
    envelopes.close()
  }

  private mutating func complete(_ event: ResponseEvent) {
    events.add(event)
    isComplete = true
    envelopes.close()
  }
}

extension ConnectError {
  /// The error of a stream that is not made of envelopes.
  init(_ error: EnvelopeError) {
    let code: Code =
      switch error {
      case .tooLong: .resourceExhausted
      case .unknownFlags, .truncated: .internalError
      }
    self.init(code: code, message: error.description, exception: error)
  }
}

extension ContentDecoder {
  /// The message of an envelope.
  ///
  /// - Throws: ``ConnectError`` if it is compressed and the head names no compression, or if it cannot be decompressed.
  func decoded(_ envelope: Envelope, maximumBytes: Int) throws(ConnectError) -> Data {
    let bytes = Data(envelope.bytes)
    guard envelope.isCompressed else {
      guard bytes.count <= maximumBytes else {
        throw ConnectError(
          code: .resourceExhausted,
          message: "a message of the stream has \(bytes.count) bytes, and at most \(maximumBytes) are accepted")
      }
      return bytes
    }
    guard decompresses else {
      throw ConnectError(
        code: .internalError, message: "a message of the stream is compressed, and the head names no compression")
    }
    return try decoded(bytes, maximumBytes: maximumBytes)
  }
}
