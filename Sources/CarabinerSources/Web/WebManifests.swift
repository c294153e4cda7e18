internal import Carabiner
internal import CarabinerCurl
internal import CarabinerManifest
internal import CarabinerRelease
internal import FoundationEssentials
internal import Synchronization

/// The manifest at a URL of a web server, which is polled.
package final class WebManifests: ManifestSource {
  private struct State {
    var metrics = SourceMetrics()
    /// The refreshes that wait for the next report.
    var waiting: [CheckedContinuation<Void, Never>] = []
    var isOver = false
  }

  /// The share of the interval that is added or left out at random, so that nodes that began together do not poll together.
  private static let jitter = 0.1

  private let manifest: WebFile
  /// Nil if signatures are not checked.
  private let sidecar: WebFile?
  private let interval: Duration
  private let state = Mutex(State())
  /// Ends the pause between two requests.
  private let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// - Parameter needsSidecar: Whether signatures are checked.
  /// - Throws: ``SourceError``, or an error of the system if there are no descriptors or threads left.
  package init(_ address: WebAddress, _ settings: SourceSettings, needsSidecar: Bool) throws {
    let connection = try WebConnection(settings, to: address)
    manifest = WebFile(address.url, maximumBytes: Manifest.maximumFileBytes, over: connection)
    sidecar = needsSidecar ? WebFile(address.sidecar, maximumBytes: ReleaseSidecar.maximumBytes, over: connection) : nil
    interval = settings.interval
  }

  package var metrics: SourceMetrics { state.withLock(\.metrics) }

  package func follow(_ report: @escaping @Sendable (Result<PublishedManifest, SourceError>) async -> Void) async {
    defer { end() }
    while !Task.isCancelled {
      let waiting = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      let found = await manifests()
      // A request that was cut off by the end says nothing about the server.
      if !Task.isCancelled {
        note(found)
        await report(found)
      }
      for continuation in waiting { continuation.resume() }
      await pause()
    }
  }

  /// Requests the manifest now, without the rest of the pause.
  package func refresh() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver { state.waiting.append(continuation) }
        return state.isOver
      }
      if isOver { continuation.resume() } else { wake.yield() }
    }
  }

  private func manifests() async -> Result<PublishedManifest, SourceError> {
    do throws(SourceError) {
      guard let text = try await manifest.bytes() else {
        throw SourceError(.missing, "the server has no file \(manifest.label); publish it, or correct the URL")
      }
      return .success(PublishedManifest(text: text, sidecar: try await sidecar?.bytes()))
    } catch {
      return .failure(error)
    }
  }

  private func note(_ found: Result<PublishedManifest, SourceError>) {
    state.withLock { state in
      switch found {
      case .success: state.metrics.isUp = true
      case .failure(let error):
        state.metrics.isUp = false
        state.metrics.errors[error.code.rawValue, default: 0] += 1
      }
    }
  }

  private func pause() async {
    let time = interval * Double.random(in: 1 - Self.jitter...1 + Self.jitter)
    let wake = wake
    let timer = Task {
      // A cancelled one must not end the next pause.
      if (try? await Task.sleep(for: time)) != nil { wake.yield() }
    }
    defer { timer.cancel() }
    for await _ in wakes { return }
  }

  private func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      state.metrics.isUp = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
