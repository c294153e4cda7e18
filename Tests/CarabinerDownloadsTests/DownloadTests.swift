import Carabiner
import CarabinerDownloads
import CarabinerManifest
import CarabinerWire
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// The requests to a server, and the responses that are files. The server is a real nginx, or one that misbehaves.
@Suite("Downloads: requests")
struct DownloadTests {
  private let site: DownloadSite

  init() throws { site = try DownloadSite() }

  @Test("a file is downloaded over https, with the authority and the resolved headers of its prefix", .rule("fleet.9"))
  func download() async throws {
    let server = try await FileServer()
    let file = Data.sample(1)
    try server.publish(file, as: "a.so")
    try Data("s3cret\n".utf8).write(to: site.folder.file("token"))
    let manifest = try site.manifest(
      [("\(server.origin)/locked/a.so", file.digest)], downloads: server.downloads(#"{"authorization": "Bearer ${file:token}"}"#))
    let found = try await site.fetch(manifest)
    #expect(try Data(contentsOf: URL(filePath: site.cached(file.digest))) == file)
    #expect(found.replacingURLs(in: manifest).plugins[0].source == .file(site.cached(file.digest), pin: file.digest))
    #expect(try await server.requests(1).map(\.authorization) == ["Bearer s3cret"])
  }

  @Test("without the authority of the server, nothing is downloaded", .rule("fleet.9"))
  func authority() async throws {
    let server = try await FileServer()
    let file = Data.sample(1)
    try server.publish(file, as: "a.so")
    let problem = try await site.refusal(try site.manifest([("\(server.origin)/a.so", file.digest)]))
    #expect(problem.code == .downloadFailed && problem.message.contains("ca-file"), "\(problem)")
    #expect(problem.pointer.description == "/plugins/0/url")
    #expect(problem.position != nil)
    #expect(site.names.isEmpty)
  }

  @Test("the longest prefix counts, and other URLs get no header", .rule("fleet.9"))
  func prefixes() async throws {
    let server = try await FileServer()
    let files = [Data.sample(1), .sample(2), .sample(3)]
    for (name, file) in zip(["a", "b", "c"], files) { try server.publish(file, as: "\(name).so") }
    let downloads = """
      [{"prefix": "\(server.plainOrigin)/a", "headers": {"authorization": "one"}},
       {"prefix": "\(server.plainOrigin)/a.so", "headers": {"authorization": "two"}},
       {"prefix": "\(server.plainOrigin)/b", "headers": {"x-other": "three"}}]
      """
    let urls = zip(["a", "b", "c"], files).map { ("\(server.plainOrigin)/\($0).so", $1.digest) }
    var limits = DownloadLimits()
    limits.concurrency = 1
    _ = try await site.fetch(try site.manifest(urls, downloads: downloads), limits)
    #expect(try await server.requests(3).map { "\($0.path) \($0.authorization)" } == ["/a.so two", "/b.so -", "/c.so -"])
  }

  @Test("after a redirect to another host, no header is sent", .rule("fleet.9"))
  func otherHost() async throws {
    let server = try await FileServer()
    let file = Data.sample(1)
    try server.publish(file, as: "a.so")
    let manifest = try site.manifest(
      [("\(server.origin)/elsewhere/a.so", file.digest)], downloads: server.downloads(#"{"authorization": "Bearer s3cret"}"#))
    _ = try await site.fetch(manifest)
    #expect(
      try await server.requests(2).map { "\($0.host) \($0.path) \($0.status) \($0.authorization)" } == [
        "127.0.0.1 /elsewhere/a.so 302 Bearer s3cret", "localhost /a.so 200 -",
      ])
  }

  @Test("three redirects are followed, and a fourth is refused", .rule("fleet.9"), arguments: [3, 4])
  func redirects(count: Int) async throws {
    let server = try await FileServer()
    let file = Data.sample(1)
    try server.publish(file, as: "a.so")
    let manifest = try site.manifest(
      [("\(server.origin)/again/\(count)/a.so", file.digest)],
      downloads: server.downloads(#"{"authorization": "Bearer s3cret"}"#))
    if count == 3 {
      _ = try await site.fetch(manifest)
      #expect(Set(try await server.requests(4).map(\.authorization)) == ["Bearer s3cret"])
    } else {
      let problem = try await site.refusal(manifest)
      #expect(problem.message.contains("redirects more than 3 times"), "\(problem)")
    }
    #expect(try await server.requests(4).count == 4)
  }

  @Test(
    "a redirect from https to http, or from this machine to http elsewhere, is refused before it is followed", .rule("fleet.9"))
  func unencrypted() async throws {
    let server = try await FileServer()
    let scripted = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond("302 Found", headers: "Location: http://192.0.2.1/a.so\r\n") })
    let urls = ["\(server.origin)/plain/a.so", "\(scripted.origin)/a.so"]
    for url in urls {
      let problem = try await site.refusal(
        try site.manifest([(url, String(repeating: "0", count: 64))], downloads: server.downloads()))
      #expect(problem.message.contains("which is not https"), "\(problem)")
    }
    #expect(try await server.requests(1).count == 1)
  }

  @Test("a status that is not 200 is refused, with what to do next", .rule("fleet.9"))
  func statuses() async throws {
    let server = try await FileServer()
    for (path, fragment) in [("locked/a.so", "status 401; write downloads:"), ("absent.so", "status 404; publish the file")] {
      let problem = try await site.refusal(
        try site.manifest([("\(server.origin)/\(path)", String(repeating: "0", count: 64))], downloads: server.downloads()))
      #expect(problem.code == .downloadFailed && problem.message.contains(fragment), "\(problem)")
    }
  }

  @Test("a file above the limit is refused", .rule("fleet.9"), arguments: [true, false])
  func tooLarge(hasLength: Bool) async throws {
    let length = hasLength ? "Content-Length: 2000\r\n" : ""
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      try peer.send("HTTP/1.1 200 OK\r\n\(length)Connection: close\r\n\r\n" + String(repeating: "a", count: 2000))
    }
    var limits = DownloadLimits()
    limits.maximumFileBytes = 1999
    let problem = try await site.refusal(
      try site.manifest([("\(server.origin)/a.so", String(repeating: "0", count: 64))]), limits)
    #expect(problem.code == .downloadFailed, "\(problem)")
    #expect(!problem.message.contains("SHA-256"))
    #expect(site.names.isEmpty)
    #expect(DownloadLimits().maximumFileBytes == 256 << 20)
  }

  @Test("a file whose declared length is above the limit is refused before its first byte", .rule("fleet.9"))
  func declaredLength() async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n")
      peer.waitForHangUp()
    }
    var limits = DownloadLimits()
    limits.maximumFileBytes = 1999
    let problem = try await site.refusal(
      try site.manifest([("\(server.origin)/a.so", String(repeating: "0", count: 64))]), limits)
    #expect(problem.message.contains("has more than the 1999 bytes allowed"), "\(problem)")
  }

  @Test(
    "a server that does not answer, or not to the end, is given up after the time limit", .rule("fleet.9"),
    arguments: [true, false])
  func timeout(answers: Bool) async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      if answers { try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\nabc") }
      peer.waitForHangUp()
    }
    var limits = DownloadLimits()
    limits.timeout = .milliseconds(300)
    let problem = try await site.refusal(
      try site.manifest([("\(server.origin)/a.so", String(repeating: "0", count: 64))]), limits)
    #expect(problem.code == .downloadFailed, "\(problem)")
    #expect(site.names.isEmpty)
    #expect(DownloadLimits().timeout == .seconds(60))
  }

  /// How many requests are under way.
  private struct Load {
    var current = 0
    var maximum = 0
    var total = 0
  }

  @Test("four files are downloaded at a time", .rule("fleet.9"))
  func concurrency() async throws {
    let load = Mutex(Load())
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        load.withLock { load in
          load.current += 1
          load.total += 1
          load.maximum = max(load.maximum, load.current)
        }
        // The first answers wait until four requests are there.
        while load.withLock({ $0.total < 4 }) { peer.pause(milliseconds: 1) }
        // Further ones would arrive while the others are held.
        peer.pause(milliseconds: 20)
        load.withLock { $0.current -= 1 }
        try peer.respond(body: request.target)
      })
    let files = (0..<9).map { ("\(server.origin)/\($0).so", Data("/\($0).so".utf8).digest) }
    _ = try await site.fetch(try site.manifest(files))
    let maximum = load.withLock(\.maximum)
    #expect(maximum == 4)
    #expect(server.requests.count == 9)
  }

  @Test("a header whose reference cannot be resolved is a problem at its place", .rule("fleet.9"))
  func reference() async throws {
    let server = try await FileServer()
    let problem = try await site.refusal(
      try site.manifest(
        [("\(server.origin)/a.so", String(repeating: "0", count: 64))],
        downloads: server.downloads(#"{"authorization": "${file:absent}"}"#)))
    #expect(problem.code == .unresolvedReference && problem.pointer.description == "/downloads/0/headers/authorization")
    #expect(server.requests.isEmpty)
  }

  @Test("without a folder, the error names the options", .rule("fleet.10"))
  func noFolder() async throws {
    let manifest = try site.manifest([("https://127.0.0.1:1/a.so", String(repeating: "0", count: 64))])
    do {
      _ = try PluginDownloads(folder: nil).files(of: manifest)
      Issue.record("it is not refused")
    } catch let error as ManifestError {
      #expect(error.problems[0].message.contains("give --plugin-cache DIR, or --state DIR"))
    }
  }
}
