package import NIOCore
package import NIOHTTP1
internal import Synchronization

/// The answer to one request, from any thread.
package final class GatewayReply: Sendable {
  private struct State {
    var isOver = false
    var onCancel: (@Sendable () -> Void)?
  }

  let channel: any Channel
  /// Whether the client speaks HTTP/1.0, which knows no chunks and closes unless told otherwise.
  private let isOld: Bool
  /// Whether the connection stays open for more requests.
  private let keepsAlive: Bool
  /// Whether the request was a HEAD, whose answer has no body.
  private let isWithoutBody: Bool
  private let state = Mutex(State())

  init(channel: any Channel, to head: HTTPRequestHead, keepsAlive: Bool) {
    self.channel = channel
    isOld = head.version == .http1_0
    self.keepsAlive = keepsAlive
    isWithoutBody = head.method == .HEAD
  }

  /// Whether the answer is complete, or nobody is there to take it.
  var isOver: Bool { state.withLock(\.isOver) }

  /// Says what is done if the client goes before the answer is complete; at once if it has gone.
  package func onCancel(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isOver { state.onCancel = body }
      return state.isOver
    }
    if isOver { body() }
  }

  /// The client is gone: what would be said now nobody hears.
  func cancel() {
    let body = state.withLock { state in
      defer { state.onCancel = nil }
      state.isOver = true
      return state.onCancel
    }
    body?()
  }

  // MARK: Whole answers

  /// Answers with a body that is there.
  package func answer(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: ByteBuffer) {
    let write = whole(status, headers, body)
    onLoop { _ in write() }
  }

  /// Answers with a body that is there, together with others.
  ///
  /// - Parameter executor: Where answers are made.
  func answer(
    _ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: ByteBuffer, in batch: AnswerBatch,
    from executor: any TaskExecutor
  ) {
    let write = whole(status, headers, body)
    if channel.eventLoop.inEventLoop { write() } else { batch.add(channel.eventLoop, from: executor, write) }
  }

  /// What writes an answer, on the connection's loop.
  private func whole(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: ByteBuffer) -> @Sendable () -> Void {
    finish()
    var headers = headers
    headers.replaceOrAdd(name: "Content-Length", value: String(body.readableBytes))
    let head = head(status, headers)
    return { [channel, isWithoutBody] in
      let pipeline = channel.pipeline.syncOperations
      pipeline.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
      if !isWithoutBody, body.readableBytes > 0 {
        pipeline.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(body))), promise: nil)
      }
      pipeline.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)), promise: nil)
    }
  }

  // MARK: Answers in pieces

  /// Begins an answer whose length is not known.
  package func begin(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
    var headers = headers
    if !isOld { headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked") }
    let head = head(status, headers)
    onLoop { channel in
      channel.pipeline.syncOperations.writeAndFlush(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
    }
  }

  /// Sends a piece, and waits until the client's system has taken what came before it.
  ///
  /// - Throws: What the connection ended with.
  package func send(_ bytes: ByteBuffer) async throws {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    onLoop { channel in
      channel.pipeline.syncOperations.writeAndFlush(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: promise)
    }
    try await promise.futureResult.get()
  }

  /// Ends an answer in pieces with a last one.
  package func endWith(_ bytes: ByteBuffer) {
    finish()
    onLoop { channel in
      let pipeline = channel.pipeline.syncOperations
      if bytes.readableBytes > 0 { pipeline.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: nil) }
      pipeline.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)), promise: nil)
    }
  }

  /// Ends an answer in pieces that cannot be completed; the client sees that it was cut short.
  package func abandon() {
    finish()
    channel.close(promise: nil)
  }

  // MARK: Parts of all of them

  private func finish() {
    state.withLock { state in
      state.isOver = true
      state.onCancel = nil
    }
  }

  private func head(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) -> HTTPResponseHead {
    var headers = headers
    if !keepsAlive {
      headers.replaceOrAdd(name: "Connection", value: "close")
    } else if isOld {
      headers.replaceOrAdd(name: "Connection", value: "keep-alive")
    }
    return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
  }

  func onLoop(_ body: @escaping @Sendable (any Channel) -> Void) {
    let channel = channel
    if channel.eventLoop.inEventLoop { body(channel) } else { channel.eventLoop.execute { body(channel) } }
  }
}
