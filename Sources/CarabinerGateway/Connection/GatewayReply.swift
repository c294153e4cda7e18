package import NIOCore
package import NIOHTTP1
internal import Synchronization

/// The answer to one request, from any thread.
package final class GatewayReply: Sendable {
  private struct State {
    var isOver = false
    /// Whether the end of the connection is the end of the body.
    var endsByClosing = false
    var onCancel: (@Sendable () -> Void)?
  }

  let channel: any Channel
  /// Whether the client speaks HTTP/1.0, which knows no chunks and closes unless told otherwise.
  private let isOld: Bool
  /// Whether the client speaks HTTP/2, which has no fields of the connection.
  private let isStream: Bool
  /// Whether the connection stays open for more requests.
  private let keepsAlive: Bool
  /// Whether the request was a HEAD, whose answer has no body.
  private let isWithoutBody: Bool
  private let state = Mutex(State())

  init(channel: any Channel, to head: HTTPRequestHead, keepsAlive: Bool) {
    self.channel = channel
    isOld = head.version == .http1_0
    isStream = head.version.major == 2
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
    _ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: ByteBuffer, in batch: ResponseBatcher,
    from executor: any TaskExecutor
  ) {
    let write = whole(status, headers, body)
    if channel.eventLoop.inEventLoop { write() } else { batch.add(channel.eventLoop, from: executor, write) }
  }

  /// What writes an answer, on the connection's loop.
  private func whole(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: ByteBuffer) -> @Sendable () -> Void {
    finish()
    var headers = headers
    let status = status.asFinal
    if status.hasBody {
      headers.replaceOrAdd(name: "Content-Length", value: String(body.readableBytes))
    } else {
      status.removeBodyFields(from: &headers)
    }
    let isWithoutBody = isWithoutBody || !status.hasBody
    let head = head(status, headers, endsByClosing: false)
    return { [channel] in
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
    // The answer to a HEAD would end with a chunk it has not (RFC 9112, 6.1).
    if !isOld, !isStream, !isWithoutBody { headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked") }
    if isOld { state.withLock { $0.endsByClosing = true } }
    let head = head(status, headers, endsByClosing: isOld)
    onLoop { channel in
      channel.pipeline.syncOperations.writeAndFlush(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
    }
  }

  /// Sends a piece, and waits until the client's system has taken what came before it.
  ///
  /// - Throws: What the connection ended with.
  package func send(_ bytes: ByteBuffer) async throws {
    if isWithoutBody { return }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    onLoop { channel in
      channel.pipeline.syncOperations.writeAndFlush(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: promise)
    }
    try await promise.futureResult.get()
  }

  /// Ends an answer in pieces with a last one.
  package func endWith(_ bytes: ByteBuffer) {
    finish()
    onLoop { [isWithoutBody] channel in
      let pipeline = channel.pipeline.syncOperations
      if bytes.readableBytes > 0, !isWithoutBody {
        pipeline.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: nil)
      }
      pipeline.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)), promise: nil)
    }
  }

  /// Ends an answer in pieces that cannot be completed; the client sees that it was cut short.
  package func abandon() {
    finish()
    channel.close(promise: nil)
  }

  // MARK: Parts of all of them

  /// Whether the connection may stay open behind the answer.
  var leavesOpen: Bool { keepsAlive && !(isOld && state.withLock(\.endsByClosing)) }

  private func finish() {
    state.withLock { state in
      state.isOver = true
      state.onCancel = nil
    }
  }

  private func head(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, endsByClosing: Bool) -> HTTPResponseHead {
    var headers = headers
    headers.replaceOrAdd(name: "Date", value: DateField.now)
    if isStream {
      // The codec takes the fields of a connection out.
    } else if !keepsAlive || endsByClosing {
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

extension HTTPResponseStatus {
  /// Whether an answer with this status has a body (RFC 9112, 6.3).
  var hasBody: Bool { code >= 200 && code != 204 && code != 205 && code != 304 }

  /// The status, if it can be that of an answer: those below 200 announce one, and others are not statuses (RFC 9110, 15).
  var isFinal: Bool { (200...599).contains(code) }

  fileprivate var asFinal: Self { isFinal ? self : .internalServerError }

  /// Takes out what describes a body there is none of. A length of 0 is for a status that could have one (RFC 9110, 8.6).
  fileprivate func removeBodyFields(from headers: inout HTTPHeaders) {
    headers.remove(name: "Transfer-Encoding")
    headers.remove(name: "Content-Type")
    headers.remove(name: "Content-Length")
    if code == 205 { headers.add(name: "Content-Length", value: "0") }
  }
}
