import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Bodies that are read while they are sent", .overBothEngines)
struct UploadTests {
  /// A folder that is removed when this value is released.
  private final class Folder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "carabiner-upload-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Creates a file with these bytes in the folder.
    func file(_ name: String, _ bytes: Data) throws -> String {
      try bytes.write(to: URL(filePath: "\(path)/\(name)"))
      return "\(path)/\(name)"
    }

    /// Creates a sparse file in the folder.
    func sparse(_ name: String, length: Int) throws -> String {
      let path = try file(name, Data())
      guard unsafe truncate(path, length) == 0 else { throw CocoaError(.fileWriteUnknown) }
      return path
    }
  }

  // Not a stored `Data`: the leak sanitizer does not recognise where it keeps its address.
  private static let bytes = (0..<200_003).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  private static var pattern: Data { Data(bytes) }

  private func request(
    _ server: ScriptedServer, _ segments: [SegmentedBody.Segment], isIdempotent: Bool = false, path: String = "/upload"
  ) throws -> Carabiner.URLRequest {
    var request = Carabiner.URLRequest(url: try #require(URL(string: "\(server.origin)\(path)")))
    var body = SegmentedBody()
    for segment in segments { body.append(segment) }
    request.body = .segmented(body)
    request.isIdempotent = isIdempotent
    return request
  }

  @Test(
    "segments arrive in order and byte for byte, again and again over one connection", .rule("request.5"),
    arguments: [true, false])
  func order(isIdempotent: Bool) async throws {
    let server = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: "\(request.body.count)") })
    let transport = try CurlTransport.tested()
    let folder = try Folder()
    let file = try folder.file("pattern", Self.pattern)
    let empty = try folder.file("empty", Data())
    let segments: [SegmentedBody.Segment] = [
      .data(Data("head".utf8)), .file(path: file, length: Self.pattern.count), .data(Data()), .file(path: empty, length: 0),
      .data(Data("middle".utf8)), .file(path: file, length: Self.pattern.count),
    ]
    let whole = Data("head".utf8) + Self.pattern + Data("middle".utf8) + Self.pattern
    for _ in 0..<3 {
      let response = try await transport.send(request(server, segments, isIdempotent: isIdempotent))
      #expect(try await response.chunks.collected() == Data("\(whole.count)".utf8))
      #expect(try await transport.fetch(server.origin, body: "{}").text == "2")
    }
    #expect(server.requests.filter { $0.target == "/upload" }.map { Data($0.body) } == [whole, whole, whole])
    // Files are always sent by libcurl, over a connection of its own.
    #expect(server.connections == (TestedEngine.current == .auto ? 2 : 1))
    try await transport.expectIntact(server)
  }

  @Test("a redirect that keeps the body reads the files again", .rule("request.5"), arguments: [307, 308])
  func redirected(status: Int) async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      if request.target == "/upload" {
        try peer.respond("\(status) Elsewhere", headers: "Location: /there\r\n")
      } else {
        try peer.respond(body: "\(request.method) \(request.body.count)")
      }
    })
    let transport = try CurlTransport.tested()
    let folder = try Folder()
    let segments = [SegmentedBody.Segment.file(path: try folder.file("p", Self.pattern), length: Self.pattern.count)]
    let response = try await transport.send(request(server, segments))
    #expect(try await response.chunks.collected() == Data("POST \(Self.pattern.count)".utf8))
    #expect(server.requests.last.map { Data($0.body) } == Self.pattern)
    try await transport.expectIntact(server)
  }

  // MARK: Changed files

  @Test("a file that is missing, a folder or a pipe is an error before anything is sent", .rule("request.5"))
  func unreadable() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in try peer.respond() })
    let transport = try CurlTransport.tested()
    let folder = try Folder()
    let pipe = "\(folder.path)/pipe"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    for (path, fragment) in [
      ("\(folder.path)/none", "No such file"), (folder.path, "not a regular file"), (pipe, "not a regular file"),
    ] {
      let error = try await #require(throws: TransportError.self) {
        _ = try await transport.send(request(server, [.data(Data("x".utf8)), .file(path: path, length: 10)]))
      }
      #expect(error.code == .fileUnreadable)
      #expect(error.message.contains(path) && error.message.contains(fragment), "\(error)")
      #expect(!error.mayHaveBeenSent)
    }
    #expect(server.connections == 0)
    try await transport.expectIntact(server)
  }

  @Test(
    "a file without permission to read is an error", .rule("request.5"), .enabled(if: getuid() != 0, "root may read everything"))
  func forbidden() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in try peer.respond() })
    let transport = try CurlTransport.tested()
    let folder = try Folder()
    let file = try folder.file("secret", Data("x".utf8))
    #expect(unsafe chmod(file, 0) == 0)
    let error = try await #require(throws: TransportError.self) {
      _ = try await transport.send(request(server, [.file(path: file, length: 1)]))
    }
    #expect(error.code == .fileUnreadable)
    #expect(error.message.contains("Permission denied"))
  }

  @Test(
    "a file whose length changed since the request was made is an error before anything is sent", .rule("request.5"),
    arguments: [9, 11])
  func changedBefore(length: Int) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in try peer.respond() })
    let transport = try CurlTransport.tested()
    let folder = try Folder()
    let file = try folder.file("ten", Data(count: length))
    let error = try await #require(throws: TransportError.self) {
      _ = try await transport.send(request(server, [.file(path: file, length: 10)]))
    }
    #expect(error.code == .fileChanged)
    #expect(error.message.contains("had 10 bytes") && error.message.contains("has \(length) now"), "\(error)")
    #expect(server.connections == 0)
    try await transport.expectIntact(server)
  }

  @Test(
    "a file that shrinks or grows while it is sent ends the request, and the server never gets a whole body", .rule("request.5"),
    arguments: [1 << 20, 65 << 20])
  func changedMeanwhile(newLength: Int) async throws {
    let length = 64 << 20
    let folder = try Folder()
    let file = try folder.sparse("changing", length: length)
    let received = Mutex(0)
    let server = try ScriptedServer { peer in
      // The client must be waiting to send when the file changes, so that no file has been read completely.
      guard let first = peer.receive() else { return }
      if String(decoding: first.prefix(10), as: UTF8.self).contains("/good") { return try peer.respond(body: "good") }
      _ = unsafe truncate(file, newLength)
      var count = first.count
      while let more = peer.receive() { count += more.count }
      received.withLock { $0 = count }
    }
    let transport = try CurlTransport.tested()
    let segments = [SegmentedBody.Segment.file(path: file, length: length), .data(Data("end".utf8))]
    let error = try await #require(throws: TransportError.self) { _ = try await transport.send(request(server, segments)) }
    #expect(error.code == .fileChanged)
    #expect(error.message.contains("\(file) had \(length) bytes when the request was made"), "\(error)")
    #expect(error.mayHaveBeenSent)
    #expect(await eventually { received.withLock { $0 > 0 } })
    #expect(received.withLock { $0 } < length + 3)
    try await transport.expectIntact(server)
  }

  // MARK: Back-pressure and memory

  @Test("a server that does not read holds the file up, and other requests go on meanwhile", .rule("request.5"))
  func backPressure() async throws {
    let mayRead = Mutex(false)
    let server = try ScriptedServer { peer in
      if peer.number == 1 {
        while !mayRead.withLock({ $0 }) { peer.pause(milliseconds: 5) }
        guard let request = try peer.request() else { return }
        try peer.respond(body: "\(request.body.count)")
      }
      try ScriptedServer.answering { _, peer in try peer.respond(body: "good") }(peer)
    }
    let transport = try CurlTransport.tested()
    let folder = try Folder()
    let length = 32 << 20
    let file = try folder.sparse("large", length: length)
    let upload = Task {
      try await transport.send(request(server, [.file(path: file, length: length)])).chunks.collected()
    }
    #expect(await eventually { try await transport.transferCount == 1 && server.connections == 1 })
    for _ in 0..<5 { #expect(try await transport.fetch("\(server.origin)/good").text == "good") }
    #expect(try await transport.transferCount == 1)
    mayRead.withLock { $0 = true }
    #expect(try await upload.value == Data("\(length)".utf8))
    try await transport.expectIntact(server)
  }

  @Test("a cancelled upload closes its file and its connection", .rule("request.5"))
  func cancelled() async throws {
    let server = try ScriptedServer { peer in
      if peer.number > 1 { return try ScriptedServer.answering { _, peer in try peer.respond(body: "good") }(peer) }
      peer.pause(milliseconds: 100)
      peer.waitForHangUp()
    }
    let transport = try CurlTransport.tested()
    let folder = try Folder()
    let file = try folder.sparse("large", length: 1 << 30)
    let upload = Task { try await transport.send(request(server, [.file(path: file, length: 1 << 30)])) }
    #expect(await eventually { server.connections == 1 })
    upload.cancel()
    await #expect(throws: CancellationError.self) { _ = try await upload.value }
    #expect(await eventually { server.hangUps == 1 })
    #expect(await eventually { !Self.openFiles().contains(file) })
    try await transport.expectIntact(server)
  }

  /// The targets of the descriptors of this process.
  private static func openFiles() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
  }
}
