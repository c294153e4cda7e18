internal import Carabiner
internal import CarabinerBridge
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// Observes one operation for the statistics of a canary, a record or a shadow.
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

  /// Returns the same results, and observes them as they pass.
  func following(
    _ results: PullStream<GraphQLResponse<DynamicOperation>>
  ) -> PullStream<GraphQLResponse<DynamicOperation>> {
    results.map { [self] response in
      last.withLock { $0 = response.body.bytes }
      return response
    }.within(.recording(recording))
  }

  /// The duration so far.
  var time: Duration { .now - start }

  /// The operation with its result; nil for a subscription, an upload, a cancelled operation or one that is too large to record.
  func recorded(_ outcome: OperationOutcome) -> RecordedOperation? {
    guard operation.operationType != .subscription, operation.form == nil, let exchanges = recording.exchanges else { return nil }
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
  /// Whether it counts as an error of the generation. A disconnected client does not.
  var isError: Bool {
    switch self {
    case .succeeded, .cancelled: false
    case .hadErrors, .failed: true
    }
  }
}
