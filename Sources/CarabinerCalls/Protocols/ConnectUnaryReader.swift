internal import CarabinerWire
internal import FoundationEssentials

/// Reads the response of a unary Connect call.
struct ConnectUnaryReader: ResponseReader {
  private enum State {
    /// Before the head.
    case head
    /// Reading a message.
    case message(ContentDecoder)
    /// Reading an error, with the code of the status.
    case error(inferred: Code, encoding: [String]?)
    /// After the end.
    case complete
  }

  private let options: ProtocolOptions
  private var state = State.head
  private var httpStatus: Int?
  private var end = ResponseEnd()
  private var body = Data()
  private var events = EventQueue()

  init(_ options: ProtocolOptions) { self.options = options }

  var isComplete: Bool { if case .complete = state { true } else { false } }

  mutating func begin(_ status: ResponseStatus, headers fields: Headers) {
    guard case .head = state else { return }
    var headers = HeaderFields.merged(fields)
    end.trailers = headers.takeTrailers()
    let encoding = headers.removeValue(forKey: HeaderConstants.contentEncoding)
    end.headers = headers
    events.add(.headers(headers))
    let (contentType, type) = headers.contentType
    if case .http(let number) = status { httpStatus = number }
    if let code = status.inferredCode, code != .ok {
      guard type == "application/json" else { return complete(end.failure(status, code)) }
      state = .error(inferred: code, encoding: encoding)
      return
    }
    let expected = "application/\(HeaderFields.lowercased(options.codecName))"
    guard type == expected else {
      return complete(
        end.failure(contentType: contentType, expected: expected, isOfProtocol: type?.hasPrefix("application/") == true))
    }
    do throws(ConnectError) {
      state = .message(try ContentDecoder(encoding: encoding, pools: options.responsePools))
    } catch {
      complete(end.failure(error))
    }
  }

  mutating func append(_ chunk: Data) {
    let limit: Int
    switch state {
    case .message: limit = options.maximumMessageBytes
    case .error: limit = options.maximumTrailerBytes
    case .head, .complete: return
    }
    guard chunk.count <= limit - body.count else {
      return complete(end.fault(.resourceExhausted, "the body of the response has more than \(limit) bytes"))
    }
    body.append(chunk)
  }

  mutating func finish(code: Code) {
    do throws(ConnectError) {
      switch state {
      case .head: complete(end.cutOff("the response ended before its head", code))
      case .message(let decoder):
        events.add(.message(try decoder.decoded(body, maximumBytes: options.maximumMessageBytes)))
        complete(end.success)
      case .error(let inferred, let encoding):
        let decoder = try ContentDecoder(encoding: encoding, pools: options.responsePools)
        let bytes = try decoder.decoded(body, maximumBytes: options.maximumTrailerBytes)
        complete(
          ConnectErrorBody(parsing: [UInt8](bytes)).map { end.failure($0, inferred: inferred) }
            ?? end.fault(
              inferred, "the server answered with an error that is not a JSON object", ResponseFault(httpStatus: httpStatus)))
      case .complete: break
      }
    } catch {
      complete(end.failure(error))
    }
  }

  mutating func next() -> ResponseEvent? { events.next() }

  private mutating func complete(_ event: ResponseEvent) {
    events.add(event)
    state = .complete
    body = Data()
  }
}
