package import NIOCore
package import NIOHTTP1

/// The response to a request. Its body is complete, or is produced while the client reads it.
package struct HTTPAnswer: Sendable {
  /// Sends a piece of a body, and waits while the client does not read.
  package typealias Send = @Sendable (ByteBuffer) async throws -> Void

  package enum Body: Sendable {
    case whole(ByteBuffer)
    /// Sends the pieces one after the other. The body ends when the closure returns.
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

/// Answers each request in its own task, which is cancelled if the client disconnects.
package struct AnsweringHandler: RequestHandler {
  private let answer: @Sendable (GatewayRequest) async -> HTTPAnswer
  private let refusal: @Sendable (HTTPResponseStatus, String) -> (headers: HTTPHeaders, body: ByteBuffer)

  /// - Parameters:
  ///   - refusal: Returns the response to a request that cannot be parsed. Its arguments are the status and the reason.
  ///   - answer: Returns the response to a request.
  package init(
    refusal: @escaping @Sendable (HTTPResponseStatus, String) -> (headers: HTTPHeaders, body: ByteBuffer),
    answer: @escaping @Sendable (GatewayRequest) async -> HTTPAnswer
  ) {
    self.refusal = refusal
    self.answer = answer
  }

  package func handle(_ request: GatewayRequest, _ reply: GatewayReply) {
    reply.answered(by: Task { await send(await answer(request), reply) })
  }

  package func refusal(_ status: HTTPResponseStatus, _ message: String) -> (headers: HTTPHeaders, body: ByteBuffer) {
    refusal(status, message)
  }

  private func send(_ answer: HTTPAnswer, _ reply: GatewayReply) async {
    switch answer.body {
    case .whole(let body): reply.answer(answer.status, ReplyFields(answer.headers), body)
    case .streamed(let pieces):
      reply.begin(answer.status, ReplyFields(answer.headers))
      do {
        try await pieces { try await reply.send($0) }
        reply.endWith(ByteBuffer())
      } catch {
        reply.abandon()
      }
    }
  }
}
