internal import Carabiner
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// Follows one operation for those who want to know what came of it: a canary's statistics, a record, a shadow.
final class OperationWatch: Sendable {
  private let operation: DynamicOperation
  private let headers: HTTPHeaders
  private let start = ContinuousClock.now
  private let recording = UpstreamRecording()
  private let last = Mutex<Data?>(nil)

  init(_ operation: DynamicOperation, headers: HTTPHeaders) {
    self.operation = operation
    self.headers = headers
  }

  /// The same results, looked at as they pass.
  func following(
    _ results: PullStream<GraphQLResponse<DynamicOperation>>
  ) -> PullStream<GraphQLResponse<DynamicOperation>> {
    results.map { [self] response in
      last.withLock { $0 = response.body.bytes }
      return response
    }.within(.recording(recording))
  }

  /// How long it has taken.
  var time: Duration { .now - start }

  /// The whole of it; nil if it is a subscription, was cancelled, or is too long to keep.
  func recorded(_ outcome: OperationOutcome) -> RecordedOperation? {
    guard operation.operationType != .subscription, let exchanges = recording.exchanges else { return nil }
    let result: RecordedOperation.Result
    switch outcome {
    case .cancelled: return nil
    case .failed(let status): result = .failure("status \(status)")
    case .succeeded, .hadErrors:
      guard let bytes = last.withLock(\.self) else { return nil }
      result = .response([UInt8](bytes))
    }
    return RecordedOperation(operation: operation, headers: headers, upstream: exchanges, result: result)
  }
}

extension OperationOutcome {
  /// Whether it counts against the generation that ran it; a client that goes does not.
  var isError: Bool {
    switch self {
    case .succeeded, .cancelled: false
    case .hadErrors, .failed: true
    }
  }
}
