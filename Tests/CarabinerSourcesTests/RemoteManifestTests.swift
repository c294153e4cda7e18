import CarabinerSources
import Synchronization
import Testing

/// The manifest that is known of a source.
@Suite("The manifest of a source")
struct RemoteManifestTests {
  /// A source whose reports the test makes.
  private final class Prompted: ManifestSource {
    private let (reports, report) = AsyncStream.makeStream(of: Result<PublishedManifest, SourceError>.self)

    var metrics: SourceMetrics { SourceMetrics() }

    func follow(_ receive: @escaping @Sendable (Result<PublishedManifest, SourceError>) async -> Void) async {
      for await news in reports { await receive(news) }
    }

    func refresh() async {}

    func publish(_ text: String) { report.yield(.success(PublishedManifest(text: Array(text.utf8), sidecar: nil))) }

    func fail(_ code: SourceError.Code) { report.yield(.failure(SourceError(code, "it failed"))) }
  }

  private let source = Prompted()

  private func remote(_ news: @escaping @Sendable (SourceError?) -> Void = { _ in }) -> RemoteManifest {
    RemoteManifest(source, label: "test", onNews: news)
  }

  private func text(_ remote: RemoteManifest) throws -> String { String(decoding: try remote.use().text, as: UTF8.self) }

  @Test("a start waits for the first manifest, and is not ended by a server that cannot be reached")
  func begin() async throws {
    source.fail(.unavailable)
    source.publish("a")
    let remote = remote()
    await remote.begin(within: .seconds(600))
    #expect(try text(remote) == "a")
  }

  @Test("a start does not wait when the source says that it has no manifest")
  func missing() async {
    source.fail(.missing)
    let remote = remote()
    await remote.begin(within: .seconds(600))
    #expect(throws: SourceError(.missing, "it failed")) { try remote.use() }
  }

  @Test("a start waits no longer than its time")
  func silent() async {
    let remote = remote()
    await remote.begin(within: .milliseconds(1))
    let error = #expect(throws: SourceError.self) { try remote.use() }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("--source-timeout") == true)
  }

  @Test("each other manifest is a change once, and a failure keeps the last one")
  func changes() async throws {
    source.publish("a")
    let remote = remote()
    await remote.begin(within: .seconds(600))
    #expect(try text(remote) == "a")
    let used = Mutex<[String]>([])
    source.publish("a")
    source.fail(.missing)
    source.publish("b")
    await remote.run { [source] in
      guard let manifest = try? remote.use() else { return false }
      let count = used.withLock { used in
        used.append(String(decoding: manifest.text, as: UTF8.self))
        return used.count
      }
      if count == 1 { source.publish("c") }
      if count == 2 { remote.close() }
      return true
    }
    #expect(used.withLock(\.self) == ["b", "c"])
    #expect(try text(remote) == "c")
  }

  @Test("a manifest that was refused is tried again, also one that was refused at the start")
  func refused() async throws {
    source.publish("a")
    let remote = RemoteManifest(source, label: "test", firstRetry: .milliseconds(1)) { _ in }
    await remote.begin(within: .seconds(600))
    #expect(try text(remote) == "a")
    let count = Mutex(0)
    await remote.run(isRefused: true) {
      let tries = count.withLock { count in
        count += 1
        return count
      }
      if tries == 4 { remote.close() }
      return tries == 4
    }
    #expect(count.withLock(\.self) == 4)
  }

  @Test("a manifest that was accepted is not tried again")
  func accepted() async throws {
    source.publish("a")
    let remote = RemoteManifest(source, label: "test", firstRetry: .milliseconds(1)) { _ in }
    await remote.begin(within: .seconds(600))
    let count = Mutex(0)
    let running = Task {
      await remote.run {
        _ = try? remote.use()
        count.withLock { $0 += 1 }
        return true
      }
    }
    while count.withLock(\.self) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(50))
    running.cancel()
    await running.value
    #expect(count.withLock(\.self) == 1)
  }

  @Test("a failure is reported once, and so is its end")
  func news() async throws {
    let reported = Mutex<[SourceError.Code?]>([])
    let remote = remote { error in reported.withLock { $0.append(error?.code) } }
    for _ in 0..<3 { source.fail(.unavailable) }
    source.fail(.denied)
    source.publish("a")
    source.publish("b")
    source.fail(.denied)
    source.publish("end")
    await remote.begin(within: .seconds(600))
    let end = ContinuousClock.now + .seconds(120)
    while reported.withLock(\.count) < 5, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try text(remote) == "end")
    #expect(reported.withLock(\.self) == [.unavailable, .denied, nil, .denied, nil])
  }
}
