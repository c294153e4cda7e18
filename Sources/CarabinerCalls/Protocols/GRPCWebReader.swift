internal import CarabinerWire
internal import FoundationEssentials

/// Reads the response of a gRPC-Web call.
struct GRPCWebReader: ResponseReader {
  private let options: ProtocolOptions
  private let kind: CallKind
  private var decoder = ContentDecoder()
  private var envelopes: EnvelopeReader
  private var end = ResponseEnd()
  private var events = EventQueue()
  /// The only message of a unary call, kept until its status is known.
  private var message: Data?
  private var hasBody = false
  /// The end if the exchange turns out to have succeeded, although its head is not that of a success.
  private var refusal: ResponseEvent?
  /// The code of the exchange, when the body has ended.
  private var finished: Code?
  private(set) var isComplete = false

  init(_ options: ProtocolOptions, _ kind: CallKind) {
    self.options = options
    self.kind = kind
    envelopes = EnvelopeReader(allowedFlags: Envelope.compressed | Envelope.trailers, maximumBytes: options.maximumMessageBytes)
  }

  mutating func begin(_ status: ResponseStatus, headers fields: Headers) {
    end.headers = HeaderFields.merged(fields)
    events.add(.headers(end.headers))
    if let code = status.inferredCode, code != .ok { return complete(end.failure(status, code)) }
    let (contentType, type) = end.headers.contentType
    let codec = HeaderFields.lowercased(options.codecName)
    guard type == "application/grpc-web+\(codec)" || codec == "proto" && type == "application/grpc-web" else {
      return refuse(
        status,
        end.failure(
          contentType: contentType, expected: "application/grpc-web+\(codec)",
          isOfProtocol: type?.hasPrefix("application/grpc-web") == true))
    }
    do throws(ConnectError) {
      decoder = try ContentDecoder(encoding: end.headers[HeaderConstants.grpcContentEncoding], pools: options.responsePools)
    } catch {
      complete(end.failure(error))
    }
  }

  mutating func append(_ chunk: Data) {
    hasBody = hasBody || !chunk.isEmpty
    envelopes.append(chunk)
  }

  mutating func finish(code: Code) {
    finished = code
    envelopes.finish()
  }

  mutating func next() -> ResponseEvent? {
    if let event = events.next() { return event }
    guard !isComplete else { return nil }
    do throws(ConnectError) {
      while let envelope = try nextEnvelope() {
        if let event = try read(envelope) { return event }
      }
      guard let finished else { return nil }
      finishBody(finished)
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

  /// Reads an envelope; nil for a message that is kept.
  private mutating func read(_ envelope: Envelope) throws(ConnectError) -> ResponseEvent? {
    guard envelope.flags & Envelope.trailers == 0 else {
      let bytes = try decoder.decoded(envelope, maximumBytes: options.maximumTrailerBytes)
      completeCall(TrailerBlock(parsing: [UInt8](bytes)))
      return events.next()
    }
    let bytes = try decoder.decoded(envelope, maximumBytes: options.maximumMessageBytes)
    guard kind == .unary else { return .message(bytes) }
    guard message == nil else {
      throw ConnectError(code: .unimplemented, message: "the response of a unary call has more than one message")
    }
    message = bytes
    return nil
  }

  /// The body has ended without trailers.
  private mutating func finishBody(_ code: Code) {
    let head = TrailerBlock(end.headers)
    guard refusal == nil, !hasBody, head.hasStatus else {
      let cut = end.cutOff("the response was cut off: its body has no trailers", code)
      return complete(code == .ok ? refusal ?? cut : cut)
    }
    completeCall(head)
  }

  private mutating func completeCall(_ block: TrailerBlock) {
    end.trailers = block.fields
    guard block.hasStatus else { return complete(end.fault(.unknown, "the trailers have no grpc-status")) }
    guard let code = block.status.flatMap(Code.init(rawValue:)) else {
      return complete(end.failure(.unknown, block.message ?? "the trailers have an unknown grpc-status"))
    }
    guard code == .ok else {
      return complete(end.failure(code, block.message ?? "", details: block.details.map { ConnectError.Detail($0) }))
    }
    if kind == .unary {
      guard let message else { return complete(end.fault(.unimplemented, "the response of a unary call has no message")) }
      events.add(.message(message))
    }
    complete(end.success)
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
    message = nil
  }
}
