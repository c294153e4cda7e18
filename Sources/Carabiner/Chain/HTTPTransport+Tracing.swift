internal import FoundationEssentials

extension HTTPTransport {
  /// Sends a request and tells a tracer how the transfer goes, to the end of its body.
  func send(_ request: URLRequest, telling tracer: any ChainTracer) async throws -> HTTPResponse {
    var request = request
    guard let transfer = tracer.willSend(&request) else {
      let span = StageSpan(tracer: tracer, kind: .transport, stage: request.url.host() ?? "")
      do {
        let response = try await send(request)
        span.finish("send", .down, "\(response.response.httpVersion.rawValue) \(response.response.statusCode)")
        return response
      } catch {
        span.fail("send", .down, error)
        throw error
      }
    }
    do {
      let response = try await send(request)
      transfer.received(response.response)
      return HTTPResponse(response: response.response, chunks: response.chunks.telling(transfer))
    } catch {
      transfer.ended(error)
      throw error
    }
  }
}

extension PullStream {
  /// The same stream, whose end somebody is told of.
  func telling(_ transfer: any TransferTracer) -> Self {
    Self {
      do {
        let step = try await pull()
        switch step {
        case .element: break
        case .last, .end: transfer.ended(nil)
        }
        return step
      } catch {
        transfer.ended(error)
        throw error
      }
    }
  }
}
