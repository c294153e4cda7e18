package import NIOCore
package import NIOHTTP1

/// The answer to a request, with a body that is there or is made while the client takes it.
package struct HTTPAnswer: Sendable {
  /// Sends a piece of a body, and waits until the client's system has taken what came before it.
  package typealias Send = @Sendable (ByteBuffer) async throws -> Void

  package enum Body: Sendable {
    case whole(ByteBuffer)
    /// Sends the pieces one after the other; the body ends when it returns.
    case streamed(@Sendable (_ send: Send) async throws -> Void)
  }

  package var status: HTTPResponseStatus
  package var headers: HTTPHeaders
  package var body: Body

  package init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: Body) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Answers each request in a task of its own, which is cancelled if the client goes.
package struct AnsweringHandler: RequestHandler {
  private let answer: @Sendable (GatewayRequest) async -> HTTPAnswer
  private let refusal: @Sendable (HTTPResponseStatus, String) -> (headers: HTTPHeaders, body: ByteBuffer)

  /// - Parameters:
  ///   - refusal: Gives the answer to a request that cannot be read, by the status and the reason.
  ///   - answer: Gives the answer to a request.
  package init(
    refusal: @escaping @Sendable (HTTPResponseStatus, String) -> (headers: HTTPHeaders, body: ByteBuffer),
    answer: @escaping @Sendable (GatewayRequest) async -> HTTPAnswer
  ) {
    self.refusal = refusal
    self.answer = answer
  }

  package func handle(_ request: GatewayRequest, _ reply: GatewayReply) {
    let task = Task { await send(await answer(request), reply) }
    reply.onCancel { task.cancel() }
  }

  package func refusal(_ status: HTTPResponseStatus, _ message: String) -> (headers: HTTPHeaders, body: ByteBuffer) {
    refusal(status, message)
  }

  private func send(_ answer: HTTPAnswer, _ reply: GatewayReply) async {
    switch answer.body {
    case .whole(let body): reply.answer(answer.status, answer.headers, body)
    case .streamed(let pieces):
      reply.begin(answer.status, answer.headers)
      do {
        try await pieces { try await reply.send($0) }
        reply.endWith(ByteBuffer())
      } catch {
        reply.abandon()
      }
    }
  }
}
