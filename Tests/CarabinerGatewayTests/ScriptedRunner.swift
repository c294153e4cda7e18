import Carabiner
import CarabinerGateway
import CarabinerWire
import Synchronization

/// Runs operations with a script instead of a chain, and records their header fields.
final class ScriptedRunner: OperationRunner {
  typealias Results = PullStream<GraphQLResponse<DynamicOperation>>

  let connectionInitHeaders: HeaderSelection
  let executor: any TaskExecutor = globalConcurrentExecutor
  private let returnedHeaders: HeaderSelection
  private let results: @Sendable (DynamicOperation) throws -> Results
  private let received = Mutex<[HTTPHeaders]>([])

  /// - Parameter results: The results of each operation.
  init(
    connectionInitHeaders: [String] = [], returnedHeaders: [String] = [],
    results: @escaping @Sendable (DynamicOperation) throws -> Results
  ) {
    self.connectionInitHeaders = HeaderSelection(connectionInitHeaders)
    self.returnedHeaders = HeaderSelection(returnedHeaders)
    self.results = results
  }

  /// Creates a runner whose operations have these results.
  convenience init(_ texts: String..., connectionInitHeaders: [String] = []) {
    self.init(connectionInitHeaders: connectionInitHeaders) { _ in
      PullStream(elements: try texts.map { try GraphQLResponse(json: JSONValue(parsing: Array($0.utf8))) })
    }
  }

  /// The header fields of the started operations.
  var headers: [HTTPHeaders] { received.withLock(\.self) }

  func begin(
    _ operation: DynamicOperation, headers: HTTPHeaders, requestID: String, client: String, path: String,
    forwarded: ForwardedFields?, trace: RequestTrace?, sending: SendingWatch?, takesPassedBody: Bool
  ) throws -> RunningOperation {
    received.withLock { $0.append(headers) }
    return RunningOperation(
      results: try results(operation), generation: 1, returnedHeaders: returnedHeaders, ended: { _ in })
  }

  func culprit(of error: any Error) -> String? { nil }
}
