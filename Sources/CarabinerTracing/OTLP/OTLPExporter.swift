package import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// Sends spans to a collector in batches, in a separate task.
///
/// Callers never wait for it. While the collector is slow or unavailable, spans wait in a bounded queue. Spans that do not fit into the
/// queue, or that the collector rejects, are counted and dropped.
package final class OTLPExporter: Sendable {
  /// The numbers of spans by outcome.
  package struct Counts: Sendable, Hashable {
    /// The collector accepted them.
    package var exported = 0
    /// The queue was full, or they were still in it at the end.
    package var dropped = 0
    /// The collector rejected them, or all attempts to send them failed.
    package var failed = 0
    /// They are in the queue.
    package var waiting = 0
  }

  private struct State {
    var exported = 0
    var failed = 0
    /// Whether the exporter shuts down. Each batch is then sent only once.
    var isClosing = false
    /// The task that waits before the next attempt.
    var pause: Task<Void, Never>?
    var isFailing = false
  }

  /// The result of one attempt to send a batch.
  fileprivate enum Outcome {
    case accepted(refused: Int, reason: String)
    case refused(String)
    case unavailable(String, retryAfter: Duration?)
  }

  private let settings: OTLPSettings
  private let payload: OTLPPayload
  private let transport: any HTTPTransport
  private let queue: SpanQueue
  private let state = Mutex(State())
  /// Wakes the task when there are spans to send.
  private let wake: AsyncStream<Void>.Continuation
  private let wakes: AsyncStream<Void>
  private let worker = Mutex<Task<Void, Never>?>(nil)
  /// Called with a message when the collector becomes unreachable, and when it is reachable again.
  private let note: @Sendable (String) -> Void

  /// Creates an exporter that has not been started.
  ///
  /// - Parameters:
  ///   - version: The version of the instrumentation.
  ///   - note: Called with a message when sending starts to fail, and when it works again.
  package init(
    _ settings: OTLPSettings, version: String, transport: any HTTPTransport, note: @escaping @Sendable (String) -> Void
  ) {
    self.settings = settings
    self.transport = transport
    self.note = note
    payload = OTLPPayload(
      resource: settings.resource, version: version, maximumTextBytes: settings.maximumAttributeBytes)
    queue = SpanQueue(maximum: settings.maximumQueue)
    (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// The counts of spans so far.
  package var counts: Counts {
    let (exported, failed) = state.withLock { ($0.exported, $0.failed) }
    return Counts(exported: exported, dropped: queue.dropped, failed: failed, waiting: queue.count)
  }

  /// Queues a span. It never waits.
  func add(_ span: FinishedSpan) {
    if queue.add(span) == settings.maximumBatch { wake.yield() }
  }

  /// Starts to send.
  package func start() {
    worker.withLock { worker in
      guard worker == nil else { return }
      worker = Task {
        let ticking = Task { [settings, wake] in
          while (try? await Task.sleep(for: settings.interval)) != nil { wake.yield() }
        }
        for await _ in wakes { await sendWaiting() }
        ticking.cancel()
        await sendWaiting()
      }
    }
  }

  /// Sends the queued spans, each batch once, and ends. Spans that are not sent within the time are dropped.
  package func shutDown(within time: Duration) async {
    state.withLock { state in
      state.isClosing = true
      state.pause?.cancel()
    }
    wake.finish()
    let worker = worker.withLock(\.self)
    let limit = Task {
      if (try? await Task.sleep(for: time)) != nil { worker?.cancel() }
    }
    await worker?.value
    limit.cancel()
    queue.dropAll()
  }

  // MARK: Sending

  private func sendWaiting() async {
    while !Task.isCancelled {
      let batch = queue.take(settings.maximumBatch)
      if batch.isEmpty { return }
      await send(batch)
    }
  }

  private func send(_ batch: [FinishedSpan]) async {
    let body = payload.body(batch)
    var attempt = 1
    while true {
      switch await post(body) {
      case .accepted(let refused, let reason):
        note(batch.count, refused: refused, refused > 0 ? "the collector rejected \(refused) spans: \(reason)" : nil)
        return
      case .refused(let reason):
        return note(batch.count, refused: batch.count, reason)
      case .unavailable(let reason, let retryAfter):
        guard attempt < settings.maximumAttempts, await pause(retryAfter ?? settings.pause * (1 << (attempt - 1))) else {
          return note(batch.count, refused: batch.count, reason)
        }
        attempt += 1
      }
    }
  }

  /// Waits before the next attempt.
  ///
  /// - Returns: Whether another attempt is to be made.
  private func pause(_ time: Duration) async -> Bool {
    let pause = Task { _ = try? await Task.sleep(for: min(time, settings.maximumPause)) }
    let isClosing = state.withLock { state in
      state.pause = pause
      return state.isClosing
    }
    if isClosing { pause.cancel() }
    await pause.value
    return state.withLock { state in
      state.pause = nil
      return !state.isClosing
    }
  }

  private func post(_ body: [UInt8]) async -> Outcome {
    var request = URLRequest(
      url: settings.endpoint, httpMethod: "POST", headers: ["Content-Type": "application/json"], httpBody: Data(body),
      timeoutInterval: settings.timeout)
    request.headers.replace(with: settings.headers)
    do {
      let response = try await transport.send(request)
      let answer = try await Self.beginning(of: response.chunks)
      return Outcome(response.response, answer)
    } catch {
      return .unavailable("\(error)", retryAfter: nil)
    }
  }

  /// The maximum number of bytes of a response that are read.
  private static let maximumAnswerBytes = 64 << 10

  private static func beginning(of chunks: PullStream<Data>) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await chunk in chunks {
      bytes.append(contentsOf: chunk)
      if bytes.count > maximumAnswerBytes { break }
    }
    return bytes
  }

  /// Counts a batch, and logs a change between failure and success.
  private func note(_ count: Int, refused: Int, _ reason: String?) {
    let isNews = state.withLock { state in
      state.exported += count - refused
      state.failed += refused
      defer { state.isFailing = reason != nil }
      return state.isFailing != (reason != nil)
    }
    guard isNews else { return }
    if let reason {
      note("traces are lost: \(reason); check that the collector at \(PrintableURL(settings.endpoint)) accepts OTLP over HTTP")
    } else {
      note("traces arrive again")
    }
  }
}

extension OTLPExporter.Outcome {
  /// Interprets the response of a collector (OTLP over HTTP).
  fileprivate init(_ head: HTTPURLResponse, _ body: [UInt8]) {
    switch head.statusCode {
    case 200..<300:
      let (refused, reason) = PartialSuccess.read(body)
      self = .accepted(refused: refused, reason: reason)
    case 429, 502, 503, 504:
      let seconds = head.value(forHTTPHeaderField: "Retry-After").flatMap(UInt32.init)
      self = .unavailable("the collector answers with status \(head.statusCode)", retryAfter: seconds.map { .seconds(Int64($0)) })
    default: self = .refused("the collector answers with status \(head.statusCode)")
    }
  }
}
