internal import CCarabiner
internal import CarabinerABI

/// The result of one call through a stage.
struct ExchangeResult: Sendable {
  /// The answer of one hook.
  struct Step: Sendable {
    let hook: Hook
    let verdict: crb_verdict
    let staged: Staged
    /// Whether the answer came by resume().
    let wasPending: Bool
  }

  var steps: [Step] = []
  /// The operation or the request as the stage left it.
  var operation: OperationSample
  var request: HTTPRequestSample
  var head: HeadSample?
  /// The headers of the operation or the request after the first hook of each attempt.
  var attempts: [[HeaderSample]] = []
  /// Whether release() was called.
  var wasReleased = false
  /// Whether it was cancelled.
  var wasCancelled = false

  init(_ exchange: Exchange) {
    operation = exchange.operation
    request = exchange.request
  }

  /// The verdict of the last hook.
  var verdict: crb_verdict { steps.last?.verdict ?? Verdict.continue }

  /// Whether the first hook has answered the request, so that it goes no further.
  var isAnswered: Bool { steps.first?.verdict == Verdict.respond }

  /// Whether a result or a chunk has reached the next stage outward.
  var hasForwarded: Bool {
    steps.contains { step in
      (step.hook == .onResult || step.hook == .onChunk) && step.verdict == Verdict.continue
    }
  }

  /// All elements staged with emit(), in order.
  var elements: [Staged.Element] { steps.flatMap(\.staged.elements) }

  /// The last attempt alone.
  var lastAttempt: ExchangeResult {
    var last = self
    let first = steps.first?.hook
    last.steps.removeFirst(steps.lastIndex { $0.hook == first } ?? 0)
    return last
  }

  /// The answers of one hook.
  func steps(of hook: Hook) -> [Step] { steps.filter { $0.hook == hook } }

  /// Everything that the caller of the chain can observe, as a text to compare.
  var fingerprint: String {
    var lines = steps.map { step in
      let elements = step.staged.elements.map { "\($0.kind):\($0.flags):\(String(decoding: $0.bytes, as: UTF8.self))" }
      let failure = step.staged.failure.map { "\($0.domain)#\($0.code) \($0.message)" } ?? ""
      return "\(step.hook.name)=\(Verdict.name(step.verdict)) [\(elements.joined(separator: "|"))] \(failure)"
    }
    lines.append("operation \(operation.type) \(Self.text(operation.name)) \(operation.document)")
    lines += [operation.variables, operation.extensions].map(Self.text) + operation.headers.map(Self.text)
    lines += ["request", request.method, request.url] + request.headers.map(Self.text)
    lines.append(Self.text(request.body.map { String(decoding: $0, as: UTF8.self) }))
    if let head { lines += ["head \(head.status) \(head.version)"] + head.headers.map(Self.text) }
    return lines.joined(separator: "\n")
  }

  private static func text(_ value: String?) -> String { value.map { "=\($0)" } ?? "absent" }

  private static func text(_ header: HeaderSample) -> String {
    "\(header.name): \(header.value)\(header.isSensitive ? " (sensitive)" : "")"
  }
}
