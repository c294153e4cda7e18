internal import Carabiner
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

extension OperationExchange {
  /// Whether the client can get a body while it arrives from the upstream. The results of a subscription are sent one by one in any case.
  ///
  /// The status of `application/graphql-response+json` depends on the whole body, as does compression. A client of HTTP/1.0 would not notice a
  /// body that is cut off. A client of HTTP/2 can ask for a thousand bodies at once and read none: what waits for each of them in the
  /// transport is in no limit.
  func takesPassedBody(of operation: DynamicOperation) -> Bool {
    if operation.operationType == .subscription { return true }
    guard shape?.whole == .json, shape?.takesOnlyEvents == false, request.head.method != .HEAD, request.head.version == .http1_1
    else { return false }
    guard let rule = policy?.compression else { return true }
    return rule.coding(accepted: request.header("accept-encoding"), bytes: .max) == nil
  }

  /// Begins a response whose body arrives from the upstream.
  func begin(_ fields: consuming ReplyFields, length: Int?) {
    if policy?.compression != nil { fields.add("Vary", "Accept-Encoding") }
    complete(&fields)
    reply.begin(.ok, fields, length: length, hasPiece: true)
  }

  /// Records that a response was broken off after its head.
  func brokenOff() {
    reply.abandon()
    note(200)
  }
}

extension OperationDelivery {
  /// Sends a body while it arrives, no faster than the client reads it.
  func pass(_ body: PassedBody, _ fields: consuming ReplyFields) async {
    exchange.begin(fields, length: body.length)
    do {
      while true {
        switch try await body.next() {
        case .element(let piece):
          // If it cannot be sent, the client has disconnected.
          do { try await exchange.reply.send(ByteBuffer(data: piece)) } catch { throw CancellationError() }
          try Task.checkCancellation()
        case .last(let piece): return end(body, ByteBuffer(data: piece))
        case .end: return end(body, ByteBuffer())
        }
      }
    } catch {
      breakOff(error)
    }
  }

  private func end(_ body: PassedBody, _ piece: ByteBuffer) {
    exchange.reply.endWith(piece)
    exchange.note(200)
    ended(body.hasErrors ? .hadErrors : .succeeded)
  }

  /// Ends the connection, because the client has a part of a body that cannot be completed.
  private func breakOff(_ error: any Error) {
    guard !(error is CancellationError), !Task.isCancelled else {
      exchange.cancelled()
      return ended(.cancelled)
    }
    let failure = FailureAnswer(error, redact: exchange.service.redact)
    exchange.log(error, operation, failure)
    exchange.trace?.failed(failure.status, failure.code)
    exchange.brokenOff()
    ended(.failed(status: failure.status))
  }
}
