internal import CarabinerWire
internal import FoundationEssentials

/// Reads the results of a subscription from an event stream, by the distinct connections mode of GraphQL over SSE.
final class EventResults<Request: GraphQLRequest>: @unchecked Sendable {
  // Each stream of the chain has one consumer at a time.

  typealias Result = ParsedResult<Request.Operation>
  typealias Step = PullStream<Result>.Step

  private let response: HTTPResponse
  private let request: Request
  private let includesRecords: Bool
  private let limits: ResponseLimits
  private var reader: EventReader
  private var areChunksOver = false

  init(_ response: HTTPResponse, request: Request, includesRecords: Bool, limits: ResponseLimits) {
    self.response = response
    self.request = request
    self.includesRecords = includesRecords
    self.limits = limits
    reader = EventReader(maximumEventBytes: limits.maximumPartBytes)
  }

  /// The next result. Fails if it does not arrive within the idle timeout.
  func next() async throws -> Step {
    guard let idleTimeout = limits.idleTimeout else { return try await advance() }
    return try await Deadline(after: idleTimeout).bounding(RequestChainError.idle(idleTimeout)) { try await self.advance() }
  }

  private func advance() async throws -> Step {
    while true {
      if let event = try nextEvent() {
        switch event.type {
        case "next": return .element(try result(of: event.data))
        // Some servers send results without a name. Other data without a name is a heartbeat.
        case StreamedEvent.unnamed:
          if let result = try? result(of: event.data) { return .element(result) }
        case "complete":
          await response.drain(areChunksOver: areChunksOver, limits)
          return .end
        // An event that is not part of the protocol.
        default: break
        }
      } else if areChunksOver {
        throw ResponseParsingError(
          .truncated, "the event stream ended without the event complete; the server or a proxy closed the connection")
      } else {
        try await pullChunk()
      }
    }
  }

  private func nextEvent() throws -> StreamedEvent? {
    do throws(EventTooLarge) {
      return try reader.next()
    } catch {
      throw ResponseParsingError(
        .partTooLarge, "an event is longer than \(error.limit) bytes; select fewer fields, or raise the limit")
    }
  }

  private func pullChunk() async throws {
    switch try await response.chunks.pull() {
    case .element(let chunk): reader.append(chunk)
    case .last(let chunk):
      areChunksOver = true
      reader.append(chunk)
    case .end: areChunksOver = true
    }
  }

  private func result(of data: [UInt8]) throws -> Result {
    let body = try ResponseBody(Data(data), limits: limits)
    var result = GraphQLResponse<Request.Operation>(body: body, source: .server, httpResponse: response.response)
    result.delivery = ResultDelivery(hasNext: true)
    return Result(result: result, cacheRecords: includesRecords ? ApolloStore.records(of: body, to: request) : nil)
  }
}

extension HTTPResponse {
  /// Reads the rest of a body, so that the connection can be reused. If the server does not end the body in time, it is dropped.
  func drain(areChunksOver: Bool, _ limits: ResponseLimits) async {
    guard !areChunksOver else { return }
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
