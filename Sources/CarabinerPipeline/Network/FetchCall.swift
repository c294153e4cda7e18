internal import Carabiner

/// The operation of a request, as a client knows it.
///
/// It travels as a task-local, because requests carry no operation, and users override `sendRequest`.
struct FetchCall: Sendable {
  /// The call under way; nil for a request that no interceptor sends.
  @TaskLocal static var current: FetchCall?

  /// Where the transfer waits for the interceptors.
  let gate: ResultGate
  let operation: CalledOperation
  /// The interceptors of the core for this request; nil for those of the client.
  let stages: StageSet?
  /// Receives the events of the transfer; nil for none.
  let tracer: (any ChainTracer)?
}

/// The parts of an operation that rules and parsers need.
struct CalledOperation: Sendable {
  let described: DynamicOperation

  init(_ operation: some GraphQLOperation) {
    described = DynamicOperation(
      document: operation.document, operationName: operation.operationName, operationType: operation.operationType,
      variables: operation.variables)
  }

  /// An operation of which nothing is known.
  static let unknown = CalledOperation(DynamicOperation(document: "", operationType: .query))
}
