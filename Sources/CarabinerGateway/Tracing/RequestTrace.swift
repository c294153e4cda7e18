package import Carabiner
package import CarabinerTracing
internal import Tracing

/// A request's place in a trace.
package enum RequestTrace: Sendable {
  /// It is recorded.
  case recorded(RequestSpan)
  /// It is not, and those behind it are told so.
  indirect case passedOn(TraceContext)

  // MARK: On the way

  /// A tracer for the chain an operation passes; nil if nothing is recorded.
  ///
  /// - Parameter generation: The number of the generation it falls to.
  package func chain(of operation: DynamicOperation, generation: UInt64) -> ChainSpans? {
    guard case .recorded(let span) = self else { return nil }
    span.describe {
      if let name = operation.operationName { $0[AttributeName.graphQLOperationName] = name }
      $0[AttributeName.graphQLOperationType] = operation.operationType.rawValue
      $0[AttributeName.generation] = Int(clamping: generation)
    }
    return span.chain(attributes: [AttributeName.generation: .int64(Int64(clamping: generation))])
  }

  /// Writes what goes on of a trace that is not recorded; of one that is, each transfer tells by itself.
  package func passOn(in headers: inout HTTPHeaders) {
    guard case .passedOn(let context) = self, let parent = context.parent else { return }
    headers[TraceParent.fieldName] = parent.description
    headers[TraceState.fieldName] = context.state?.text
  }

  /// The place of one of several operations.
  func part(_ operation: DynamicOperation) -> RequestTrace {
    guard case .recorded(let span) = self else { return self }
    let name = operation.operationName.map { "\(operation.operationType) \($0)" } ?? "\(operation.operationType)"
    return .recorded(span.part(name))
  }

  // MARK: The end

  /// It is answered.
  func answered(_ status: Int) {
    guard case .recorded(let span) = self else { return }
    span.describe { $0[AttributeName.statusCode] = status }
    span.end()
  }

  /// It failed, or was refused.
  ///
  /// - Parameters:
  ///   - status: What the client is told, or would be had it not been told another already.
  ///   - code: What kind of failure it was.
  func failed(_ status: Int, _ code: String) {
    guard case .recorded(let span) = self else { return }
    span.describe { $0[AttributeName.errorType] = code }
    // What a client did wrong is no failure of the gateway's.
    if status >= 500 { span.fail() }
  }

  /// The client went before it was answered.
  func cancelled() {
    guard case .recorded(let span) = self else { return }
    span.describe { $0[AttributeName.errorType] = "CLIENT_CLOSED" }
    span.end()
  }

  /// It is over.
  func end() {
    if case .recorded(let span) = self { span.end() }
  }
}
