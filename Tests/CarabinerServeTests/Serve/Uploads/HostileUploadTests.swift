import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Clients and upstreams that break uploads.
@Suite("carabiner serve: hostile uploads")
struct HostileUploadTests {
  /// An upstream that reads uploads to their end, and counts the whole ones.
  private final class Upstream: Sendable {
    private final class Counts: Sendable {
      let whole = Mutex(0)
      let brokenOff = Mutex(0)
      let bytes = Mutex(0)
    }

    private let counts: Counts
    private let server: ScriptedServer

    init() throws {
      let counts = Counts()
      self.counts = counts
      server = try ScriptedServer { peer in
        while let head = try peer.head() {
          if head.header("Transfer-Encoding") == "chunked" {
            var isWhole = false
            while let chunk = peer.chunk() {
              counts.bytes.withLock { $0 += chunk.count }
              isWhole = chunk.isEmpty
              if isWhole { break }
            }
            guard isWhole else { return counts.brokenOff.withLock { $0 += 1 } }
            counts.whole.withLock { $0 += 1 }
          } else {
            _ = peer.receive()
          }
          try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
        }
      }
    }

    var endpoint: String { "\(server.origin)/graphql" }
    var whole: Int { counts.whole.withLock(\.self) }
    var bytes: Int { counts.bytes.withLock(\.self) }

    /// Waits until this many requests were broken off.
    func waitForBrokenOff(_ count: Int) async {
      #expect(await eventually { self.counts.brokenOff.withLock(\.self) >= count })
    }
  }

  private let upstream: Upstream
  private let folder: StoreFolder

  init() throws {
    upstream = try Upstream()
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  private func gateway(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, arguments)
  }

  /// After a hostile client, no operation is left.
  private func expectIdle(_ gateway: ServeProcess) async throws {
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
  }

  @Test("an upload of 10 GB is refused by its length before a byte of it is read")
  func declaredLength() throws {
    let gateway = try gateway()
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.head(length: 10 << 30))
    let (text, isClosed) = client.read()
    #expect(text.hasPrefix("HTTP/1.1 413") && text.contains("PAYLOAD_TOO_LARGE"), "\(text)")
    #expect(isClosed)
  }

  @Test("an upload of 10 GB without a length is refused at the limit, and the upstream's request is broken off")
  func undeclaredLength() async throws {
    let gateway = try gateway(["--maximum-upload", "20MiB"])
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.head(length: nil))
    client.sendChunk(Array(UploadText.opening.utf8))
    let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    var sent = 0
    while sent < 10 << 10, client.sendChunk(chunk) { sent += 1 }
    // The limit of the upload, what is discarded after the response, and what the system keeps of both sockets.
    #expect(sent < 256, "the client could send \(sent) MiB")
    await upstream.waitForBrokenOff(1)
    #expect(upstream.whole == 0 && upstream.bytes < 21 << 20)
    try await expectIdle(gateway)
  }

  @Test("a client that stops in a file is answered with 408, and the upstream's request is broken off")
  func stopped() async throws {
    let gateway = try gateway(["--receive-timeout", "500ms"])
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.head(length: 1 << 20) + UploadText.opening + "abc")
    let (text, isClosed) = client.read()
    #expect(text.hasPrefix("HTTP/1.1 408") && text.contains("no byte of the upload arrived within 500 ms"), "\(text)")
    #expect(isClosed)
    await upstream.waitForBrokenOff(1)
    #expect(upstream.whole == 0)
    try await expectIdle(gateway)
  }

  @Test("a file without end, byte by byte, is answered with 408 at the time limit for uploads")
  func trickle() async throws {
    let gateway = try gateway(["--receive-timeout", "5s", "--upload-timeout", "1s"])
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.head(length: nil))
    client.sendChunk(Array(UploadText.opening.utf8))
    let start = ContinuousClock.now
    var answer: [UInt8]?
    while answer == nil, ContinuousClock.now - start < .seconds(60) {
      client.sendChunk([0x61])
      answer = client.receive(patience: 50)
    }
    let text = String(decoding: answer ?? [], as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 408") && text.contains("did not arrive completely within 1000 ms"), "\(text)")
    await upstream.waitForBrokenOff(1)
    try await expectIdle(gateway)
  }

  @Test("a client that disconnects in a file cancels the upstream's request", arguments: ["close", "reset", "half-close"])
  func disconnected(_ way: String) async throws {
    let gateway = try gateway()
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.head(length: 1 << 20) + UploadText.opening + "abc")
    #expect(await eventually { upstream.bytes > 0 })
    switch way {
    case "close": client.hangUp()
    case "reset": client.reset()
    default:
      client.finish()
      #expect(client.read().text.hasPrefix("HTTP/1.1 400"))
    }
    await upstream.waitForBrokenOff(1)
    #expect(upstream.whole == 0)
    try await expectIdle(gateway)
  }

  @Test("a form that turns out to be invalid after its first file never reaches the upstream as a whole")
  func lateFault() async throws {
    let gateway = try gateway(["--maximum-file", "1MiB"])
    let file = UploadText.opening + "abc\r\n"
    let cases = [
      (file + UploadText.file("1", "b.txt") + "x" + UploadText.end, 400, "map does not name"),
      (file + UploadText.file("0", "b.txt") + "x" + UploadText.end, 400, "the form has twice"),
      (file + UploadText.part("operations", "{}") + UploadText.end, 400, "the form has twice"),
      (UploadText.opening + "no end", 400, "ends before its close delimiter"),
      (UploadText.opening + String(repeating: "x", count: 2 << 20) + UploadText.end, 413, "may have 1048576 bytes"),
    ]
    for (form, status, reason) in cases {
      let client = try ClientSocket(port: gateway.port)
      client.send(UploadText.request(form))
      let text = client.read { $0.contains("errors") }.text
      #expect(text.hasPrefix("HTTP/1.1 \(status)") && text.contains(reason), "\(text)")
    }
    #expect(upstream.whole == 0)
    try await expectIdle(gateway)
  }

  @Test("an upstream that answers before the end of a file ends the upload")
  func earlyAnswer() throws {
    let hasty = try ScriptedServer { peer in
      guard try peer.head() != nil, peer.chunk() != nil else { return }
      try peer.send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
      peer.waitForHangUp()
    }
    let gateway = try ServeProcess(folder, endpoint: "\(hasty.origin)/graphql")
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.head(length: 50 << 20) + UploadText.opening)
    let (text, isClosed) = client.read()
    #expect(text.hasPrefix("HTTP/1.1 502") && text.contains("Connection: close"), "\(text)")
    #expect(isClosed)
  }

  @Test("an upload is sent once, also if the upstream ends the connection")
  func noRetry() throws {
    let requests = Mutex(0)
    let closing = try ScriptedServer { peer in
      guard try peer.head() != nil else { return }
      while let chunk = peer.chunk(), !chunk.isEmpty {}
      requests.withLock { $0 += 1 }
    }
    let gateway = try ServeProcess(folder, endpoint: "\(closing.origin)/graphql")
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.request(UploadText.opening + "abc" + UploadText.end))
    #expect(client.read { $0.contains("errors") }.text.hasPrefix("HTTP/1.1 502"))
    #expect(requests.withLock(\.self) == 1)
  }

  @Test("uploads wait in the queue of operations without being read into the memory")
  func queue() async throws {
    let gateway = try gateway(["--maximum-operations", "1"])
    let first = try ClientSocket(port: gateway.port)
    first.send(UploadText.head(length: 1 << 20) + UploadText.opening)
    while try await gateway.status()["operations"]?["running"]?.int != 1 {}
    let second = try ClientSocket(port: gateway.port)
    second.send(UploadText.request(UploadText.opening + "abc" + UploadText.end))
    while try await gateway.status()["operations"]?["waiting"]?.int != 1 {}
    first.hangUp()
    #expect(second.read { $0.contains("data") }.text.hasPrefix("HTTP/1.1 200"))
    #expect(upstream.whole == 1)
  }
}
