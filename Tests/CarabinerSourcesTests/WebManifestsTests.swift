import CarabinerSources
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Manifests from a web server that misbehaves. The gateway's tests use a real nginx.
@Suite("Manifests from a web server")
struct WebManifestsTests {
  /// A source that is followed, and its reports.
  private final class Following: Sendable {
    let source: WebManifests
    private let server: ScriptedServer
    private let list = Mutex<[Result<PublishedManifest, SourceError>]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(
      _ server: ScriptedServer, path: String = "/chain.yaml", sidecar: Bool = false,
      change: (inout SourceSettings) -> Void = { _ in }
    ) throws {
      guard case .web(let address) = try ManifestAddress("http://127.0.0.1:\(server.port)\(path)") else {
        throw SourceError(.invalidSettings, "this is not a URL")
      }
      var settings = SourceSettings()
      settings.interval = .seconds(3600)
      settings.timeout = .seconds(60)
      change(&settings)
      self.server = server
      source = try WebManifests(address, settings, needsSidecar: sidecar)
      task.withLock { task in
        task = Task { [weak self, source] in await source.follow { [weak self] report in self?.add(report) } }
      }
    }

    func cancel() { task.withLock { $0?.cancel() } }

    deinit { task.withLock { $0?.cancel() } }

    private func add(_ report: Result<PublishedManifest, SourceError>) { list.withLock { $0.append(report) } }

    /// The reports, once there are so many.
    func reports(_ count: Int) async throws -> [Result<PublishedManifest, SourceError>] {
      let end = ContinuousClock.now + .seconds(120)
      while list.withLock(\.count) < count, .now < end { try await Task.sleep(for: .milliseconds(5)) }
      return list.withLock(\.self)
    }

    func failure() async throws -> SourceError? {
      guard case .failure(let error) = try await reports(1).first else { return nil }
      return error
    }

    func text(_ index: Int) async throws -> String? {
      guard case .success(let manifest) = try await reports(index + 1)[index] else { return nil }
      return String(decoding: manifest.text, as: UTF8.self)
    }
  }

  /// A server that answers each request by its path and fields.
  private static func server(
    _ answer: @escaping @Sendable (ReceivedRequest) -> (status: String, headers: String, body: String)
  ) throws -> ScriptedServer {
    try ScriptedServer { peer in
      while let request = try peer.request() {
        let reply = answer(request)
        try peer.respond(reply.status, headers: reply.headers, body: reply.body)
      }
    }
  }

  @Test("a server that always sends 200 with the same bytes reports equal manifests", .rule("fleet.5"))
  func withoutValidator() async throws {
    let following = try Following(try Self.server { _ in ("200 OK", "", "carabiner: 1") })
    #expect(try await following.text(0) == "carabiner: 1")
    await following.source.refresh()
    #expect(try await following.text(1) == "carabiner: 1")
    let reports = try await following.reports(2)
    #expect(try reports[0].get() == reports[1].get())
    // The end of one pause does not end the next.
    try await Task.sleep(for: .milliseconds(100))
    #expect(try await following.reports(2).count == 2)
    #expect(following.source.metrics.isUp)
  }

  @Test("the entity tag is sent back, and 304 means the same manifest", .rule("fleet.5"))
  func validator() async throws {
    let server = try Self.server { request in
      request.header("If-None-Match") == "\"a1\""
        ? ("304 Not Modified", "ETag: \"a1\"\r\n", "") : ("200 OK", "ETag: \"a1\"\r\n", "carabiner: 1")
    }
    let following = try Following(server)
    #expect(try await following.text(0) == "carabiner: 1")
    await following.source.refresh()
    #expect(try await following.text(1) == "carabiner: 1")
  }

  @Test(
    "an answer without a manifest is a failure of its kind", .rule("fleet.5"),
    arguments: [
      ("404 Not Found", "", SourceError.Code.missing), ("401 Unauthorized", "", .unauthenticated), ("403 Forbidden", "", .denied),
      ("500 Internal Server Error", "", .unavailable), ("418 I'm a teapot", "", .refused),
      ("304 Not Modified", "", .refused), ("302 Found", "Location: https://other.test/chain.yaml\r\n", .refused),
      ("302 Found", "Location: http://127.0.0.2/chain.yaml\r\n", .refused), ("302 Found", "", .refused),
      ("302 Found", "Location: /chain.yaml\r\n", .refused),
    ])
  func statuses(status: String, headers: String, code: SourceError.Code) async throws {
    let following = try Following(try Self.server { _ in (status, headers, "") }, path: "/chain.yaml?token=s3cret")
    let error = try await following.failure()
    #expect(error?.code == code, "\(error?.description ?? "")")
    #expect(error?.message.contains("s3cret") == false)
    #expect(following.source.metrics.errors == [code.rawValue: 1] && !following.source.metrics.isUp)
  }

  @Test("a redirect on the same host is followed, with the login", .rule("fleet.5"))
  func redirect() async throws {
    let server = try Self.server { request in
      guard request.header("Authorization") == "Basic bm9kZTpzM2NyZXQ=" else { return ("401 Unauthorized", "", "") }
      return request.target == "/new.yaml" ? ("200 OK", "", "carabiner: 1") : ("302 Found", "Location: /new.yaml\r\n", "")
    }
    let folder = try StoreFile("s3cret\n")
    let following = try Following(server) { $0.login = SourceSettings.Login(user: "node", passwordFile: folder.path) }
    #expect(try await following.text(0) == "carabiner: 1")
  }

  @Test("a manifest has at most 1 MiB", .rule("fleet.5"))
  func large() async throws {
    let text = String(repeating: "#", count: (1 << 20) + 1)
    let following = try Following(try Self.server { _ in ("200 OK", "", text) })
    #expect(try await following.failure()?.code == .malformed)
    let largest = String(text.dropFirst())
    #expect(try await Following(try Self.server { _ in ("200 OK", "", largest) }).text(0) == largest)
  }

  @Test("the signature is at the URL with .release; without one the manifest has none", .rule("fleet.5"))
  func sidecar() async throws {
    let isSigned = Mutex(true)
    let server = try Self.server { request in
      guard request.target == "/chain.yaml.release?v=1" else { return ("200 OK", "", "carabiner: 1") }
      return isSigned.withLock(\.self) ? ("200 OK", "ETag: \"s\"\r\n", "statement") : ("404 Not Found", "", "")
    }
    let following = try Following(server, path: "/chain.yaml?v=1", sidecar: true)
    #expect(try await following.reports(1)[0].get().sidecar == Array("statement".utf8))
    isSigned.withLock { $0 = false }
    await following.source.refresh()
    #expect(try await following.reports(2)[1].get().sidecar == nil)
  }

  @Test("a refresh ends with the source")
  func end() async throws {
    let server = try ScriptedServer { peer in peer.waitForHangUp() }
    let following = try Following(server)
    let refresh = Task { await following.source.refresh() }
    while server.connections == 0 { try await Task.sleep(for: .milliseconds(5)) }
    following.cancel()
    await refresh.value
    await following.source.refresh()
  }

  @Test("a server that does not answer is a failure after the time for an answer")
  func silent() async throws {
    let server = try ScriptedServer { peer in peer.waitForHangUp() }
    let following = try Following(server) { $0.timeout = .milliseconds(200) }
    #expect(try await following.failure()?.code == .unavailable)
    await following.source.refresh()
    #expect(following.source.metrics.errors["unavailable"] ?? 0 >= 2)
  }
}

/// A file with a text, removed with this value.
private final class StoreFile: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "carabiner-\(UUID().uuidString)").path

  init(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
