internal import CarabinerWire
internal import FoundationEssentials

/// Reads the results of a subscription from an event stream, by the distinct connections mode of GraphQL over SSE.
struct EventResultReader: StreamedResultReader {
  private let limits: ResponseLimits
  private var reader: EventReader
  private var isFinished = false

  init(limits: ResponseLimits) {
    self.limits = limits
    reader = EventReader(maximumEventBytes: limits.maximumPartBytes)
  }

  mutating func append(_ chunk: Data) { reader.append(chunk) }

  mutating func finish() { isFinished = true }

  mutating func next() throws -> StreamedStep {
    while let event = try nextEvent() {
      switch event.type {
      case "next": return .result(try result(of: event.data))
      // Some servers send results without a name. Other data without a name is a heartbeat.
      case StreamedEvent.unnamed:
        if let result = try? result(of: event.data) { return .result(result) }
      case "complete": return .end
      // An event that is not part of the protocol.
      default: break
      }
    }
    guard isFinished else { return .needsBytes }
    throw ResponseParsingError(
      .truncated, "the event stream ended without the event complete; the server or a proxy closed the connection")
  }

  private mutating func nextEvent() throws -> StreamedEvent? {
    do throws(EventTooLarge) {
      return try reader.next()
    } catch {
      throw ResponseParsingError(
        .partTooLarge, "an event is longer than \(error.limit) bytes; select fewer fields, or raise the limit")
    }
  }

  private func result(of data: [UInt8]) throws -> StreamedResult {
    StreamedResult(body: try ResponseBody(Data(data), limits: limits), delivery: .subscription)
  }
}

extension ResultDelivery {
  /// The position of a result of a subscription: more may follow.
  static let subscription = ResultDelivery(hasNext: true)
}
