internal import FoundationEssentials

extension TransportKind {
  /// The transport, wrapped in one that reports to a tracer.
  func traced(by tracer: any ChainTracer) -> TransportKind {
    switch self {
    case .http(let transport): .http(TracedHTTPTransport(transport: transport, tracer: tracer))
    case .results(let transport): .results(TracedResultTransport(transport: transport, tracer: tracer))
    }
  }
}

/// Sends a request several times if necessary. Each attempt is reported to a tracer.
package protocol RepeatingTransport: HTTPTransport {
  /// Sends a request.
  ///
  /// - Parameter tracer: The tracer of the attempts.
  func send(_ request: URLRequest, tracer: any ChainTracer) async throws -> HTTPResponse
}

/// Reports how each transfer goes, to the end of its body.
package struct TracedHTTPTransport: HTTPTransport {
  private let transport: any HTTPTransport
  private let tracer: any ChainTracer

  /// Reports the transfers of a transport.
  package init(transport: any HTTPTransport, tracer: any ChainTracer) {
    self.transport = transport
    self.tracer = tracer
  }

  package func send(_ request: URLRequest) async throws -> HTTPResponse {
    if let transport = transport as? any RepeatingTransport { return try await transport.send(request, tracer: tracer) }
    var request = request
    guard let transfer = tracer.willSend(&request) else {
      let span = StageSpan(tracer: tracer, kind: .transport, stage: request.url.host() ?? "")
      do {
        let response = try await transport.send(request)
        span.finish("send", .down, "\(response.response.httpVersion.rawValue) \(response.response.statusCode)")
        return response
      } catch {
        span.fail("send", .down, error)
        throw error
      }
    }
    do {
      var response = try await transport.send(request)
      transfer.received(response.response)
      response.chunks = response.chunks.reporting(to: transfer)
      return response
    } catch {
      transfer.ended(error)
      throw error
    }
  }
}

/// Reports how each operation goes, to its last result.
private struct TracedResultTransport: ResultTransport {
  let transport: any ResultTransport
  let tracer: any ChainTracer

  func results<Request: GraphQLRequest>(
    for request: Request
  ) async throws -> PullStream<GraphQLResponse<Request.Operation>> {
    let transfer = tracer.willSend(request.operation.operationType, to: request.graphQLEndpoint)
    let span = StageSpan(tracer: tracer, kind: .transport, stage: request.graphQLEndpoint.host() ?? "")
    do {
      let results = try await transport.results(for: request)
      span.finish("subscribe", .down, "asked")
      return span.traced(transfer.map(results.reporting) ?? results)
    } catch {
      span.fail("subscribe", .down, error)
      transfer?.ended(error)
      throw error
    }
  }
}

extension PullStream {
  /// The same stream; its end is reported.
  fileprivate func reporting(to transfer: any TransferTracer) -> Self {
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
