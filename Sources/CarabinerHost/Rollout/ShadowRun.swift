internal import Carabiner
internal import CarabinerBridge
internal import CarabinerCurl
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import Logging

/// A copy of an operation in another generation. Its result is only compared.
struct ShadowRun: Sendable {
  let original: RecordedOperation
  let trial: GenerationTrial
  let upstream: Manifest.Shadow.Upstream
  let output: HostOutput

  /// Runs the copy in its own task, unless too many are running.
  func start(_ ended: @escaping @Sendable () -> Void) {
    guard trial.comparisons.begin() else { return ended() }
    Task(executorPreference: trial.generation.host.transport.loop) {
      let difference = await difference()
      let name = original.operation.operationName ?? "anonymous"
      trial.comparisons.end(name, difference)
      if let difference, !difference.isEmpty {
        output.logger.notice(
          "a shadow's result differs",
          metadata: [
            "operation": "\(name)", "generation": "\(trial.generation.number)", "places": "\(difference.count)",
            "first": "\(output.redacted(difference.places.first?.text ?? ""))",
          ])
      }
      ended()
    }
  }

  private func difference() async -> ResultDifference? {
    let generation = trial.generation
    let copy: RecordedOperation.Result
    do {
      var results = try generation.host.results(
        of: original.operation, headers: original.headers, cachePolicy: .networkOnly, tracer: nil)
      if upstream == .recorded { results = results.within(.replaying(UpstreamReplay(original.upstream))) }
      copy = .response([UInt8](try await results.finalResult().body.bytes))
    } catch {
      copy = .failure("\(error)")
    }
    return ResultDifference(original.result, copy)
  }
}

extension ResultDifference {
  /// Compares two results. Two failures count as equal.
  init(_ old: RecordedOperation.Result, _ new: RecordedOperation.Result) {
    func json(_ result: RecordedOperation.Result) -> JSONValue {
      switch result {
      case .response(let bytes): (try? JSONValue(parsing: bytes)) ?? .null
      case .failure(let text): ["failure": .string(text)]
      }
    }
    if case .failure = old, case .failure = new {
      self.init(.null, .null)
    } else {
      self.init(json(old), json(new))
    }
  }
}
