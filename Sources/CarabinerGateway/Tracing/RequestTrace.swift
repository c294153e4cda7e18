package import Carabiner
package import CarabinerTracing
internal import Tracing

/// A request's place in a trace.
package enum RequestTrace: Sendable {
  /// The request is recorded.
  case recorded(RequestSpan)
  /// The request is not recorded. The upstream gets the context with the sampled flag cleared.
  indirect case passedOn(TraceContext)

  // MARK: On the way

  /// Returns a tracer for the chain that runs an operation; nil if the request is not recorded.
  ///
  /// - Parameter generation: The generation of the chain.
  package func chain(of operation: DynamicOperation, generation: UInt64) -> ChainSpans? {
    guard case .recorded(let span) = self else { return nil }
    span.describe {
      if let name = operation.operationName { $0[AttributeName.graphQLOperationName] = name }
      $0[AttributeName.graphQLOperationType] = operation.operationType.rawValue
      $0[AttributeName.generation] = Int(clamping: generation)
    }
    return span.chain(attributes: [AttributeName.generation: .int64(Int64(clamping: generation))])
  }

  /// Adds the trace fields of a request that is not recorded. For a recorded one, each transfer adds its own.
  package func passOn(in headers: inout HTTPHeaders) {
    guard case .passedOn(let context) = self, let parent = context.parent else { return }
    headers[TraceParent.fieldName] = parent.description
    headers[TraceState.fieldName] = context.state?.text
  }

  /// Returns the place of one operation of a batch.
  func part(_ operation: DynamicOperation) -> RequestTrace {
    guard case .recorded(let span) = self else { return self }
    let name = operation.operationName.map { "\(operation.operationType) \($0)" } ?? "\(operation.operationType)"
    return .recorded(span.part(name))
  }

  // MARK: The end

  /// Records the response status and ends the span.
  func answered(_ status: Int) {
    guard case .recorded(let span) = self else { return }
    span.describe { $0[AttributeName.statusCode] = status }
    span.end()
  }

  /// Records a failure or refusal.
  ///
  /// - Parameters:
  ///   - status: The status of the response, or the status of the failure if another one has already been sent.
  ///   - code: The error code.
  func failed(_ status: Int, _ code: String) {
    guard case .recorded(let span) = self else { return }
    span.describe { $0[AttributeName.errorType] = code }
    // Client errors do not make the span an error.
    if status >= 500 { span.fail() }
  }

  /// Records that the client disconnected before the response.
  func cancelled() {
    guard case .recorded(let span) = self else { return }
    span.describe { $0[AttributeName.errorType] = "CLIENT_CLOSED" }
    span.end()
  }

  /// Ends the span.
  func end() {
    if case .recorded(let span) = self { span.end() }
  }
}
