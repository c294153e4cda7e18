internal import Carabiner
internal import Foundation

/// The results of one operation over a WebSocket, for one reader.
final class SocketResults<Operation: GraphQLOperation>: @unchecked Sendable {
  // Each stream of the chain has one consumer at a time.

  typealias Step = PullStream<GraphQLResponse<Operation>>.Step

  private let token: SocketSession.Token
  private let queue: ResultQueue
  private let driver: SocketDriver
  private var payloads: ResultPayloads<Operation>
  /// Whether errors that end the operation are thrown. Otherwise they are a result.
  private let throwsErrors: Bool

  init(
    _ token: SocketSession.Token, _ queue: ResultQueue, _ driver: SocketDriver, _ payloads: ResultPayloads<Operation>,
    throwsErrors: Bool
  ) {
    self.token = token
    self.queue = queue
    self.driver = driver
    self.payloads = payloads
    self.throwsErrors = throwsErrors
  }

  deinit { driver.end(token) }

  func next() async throws -> Step {
    do {
      while true {
        let (event, hasRoomAgain) = try await queue.take()
        if hasRoomAgain { driver.resumeReading(for: token) }
        switch event {
        case .result(let payload):
          guard let (response, isLast) = try payloads.response(payload) else { continue }
          return isLast ? .last(response) : .element(response)
        case .errors(let payload):
          let response = try payloads.response(errors: payload)
          guard throwsErrors else { return .last(response) }
          throw SubscriptionError(errors: response.errors ?? [])
        case .complete:
          try payloads.finish()
          return .end
        case .failed(let error): throw error
        case .state: continue
        }
      }
    } catch {
      // The server may still run the operation.
      driver.end(token)
      throw error
    }
  }
}
