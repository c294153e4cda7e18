import Carabiner
import CarabinerDownloads
import CarabinerManifest
import CarabinerWire
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// The folder of downloaded files.
@Suite("Downloads: the folder")
struct PluginCacheTests {
  private let site: DownloadSite

  init() throws { site = try DownloadSite() }

  private func permissions(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  /// A server of files of equal size, whose names are numbers.
  private func server() throws -> ScriptedServer {
    try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let number = UInt8(request.target.filter(\.isNumber)) ?? 0
        try peer.respond(body: String(repeating: Character(Unicode.Scalar(number)), count: 1000))
      })
  }

  private func file(_ number: UInt8, of server: ScriptedServer) -> (url: String, digest: String) {
    ("\(server.origin)/\(number).so", Data.sample(number, count: 1000).digest)
  }

  @Test("the folder is private, and files can only be read", .rule("fleet.10"))
  func modes() async throws {
    let server = try server()
    let file = file(65, of: server)
    let found = try await site.fetch(try site.manifest([file]))
    #expect(try permissions(site.cache) == 0o700)
    #expect(try permissions(site.cached(file.digest)) == 0o400)
    #expect(site.names == ["\(file.digest).so"])
    #expect(found.warnings.isEmpty)
  }

  @Test("100 rounds with one digest are one download, also of two entries", .rule("fleet.10"))
  func once() async throws {
    let server = try server()
    let file = file(65, of: server)
    let manifest = try site.manifest([file, file])
    for _ in 0..<100 { _ = try await site.fetch(manifest) }
    #expect(server.requests.count == 1)
  }

  @Test("a sidecar that was not finished is removed when it is old", .rule("fleet.10"))
  func unfinished() async throws {
    let server = try server()
    let manifest = try site.manifest([file(65, of: server)])
    _ = try await site.fetch(manifest)
    let (old, new) = (site.cache + "/a.b.release.1f", site.cache + "/a.b.release.2f")
    for path in [old, new] { try Data("part".utf8).write(to: URL(filePath: path)) }
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: old)
    _ = try await site.fetch(manifest)
    #expect(!FileManager.default.fileExists(atPath: old))
    #expect(FileManager.default.fileExists(atPath: new))
  }

  @Test("a file in the folder with other bytes is removed and downloaded again", .rule("fleet.10"))
  func damaged() async throws {
    let server = try server()
    let file = file(65, of: server)
    let manifest = try site.manifest([file])
    _ = try await site.fetch(manifest)
    try FileManager.default.removeItem(atPath: site.cached(file.digest))
    try Data("other".utf8).write(to: URL(filePath: site.cached(file.digest)))
    _ = try await site.fetch(manifest)
    #expect(try Data(contentsOf: URL(filePath: site.cached(file.digest))) == .sample(65, count: 1000))
    #expect(server.requests.count == 2)
  }

  @Test("a file with another digest is removed, and the error names both", .rule("fleet.10"))
  func wrongBytes() async throws {
    let server = try server()
    let (url, right) = file(65, of: server)
    let wrong = Data("other".utf8).digest
    let problem = try await site.refusal(try site.manifest([(url, wrong)]))
    #expect(problem.code == .pinMismatch)
    #expect(problem.message.contains(right) && problem.message.contains(wrong), "\(problem)")
    #expect(site.names.isEmpty)
  }

  @Test("after a cut connection nothing stays, and the next round downloads the file", .rule("fleet.10"))
  func cut() async throws {
    let isCut = Mutex(true)
    let server = try ScriptedServer { peer in
      while try peer.request() != nil {
        guard isCut.withLock(\.self) else {
          try peer.respond(body: "abcdef")
          continue
        }
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
        return
      }
    }
    let manifest = try site.manifest([("\(server.origin)/a.so", Data("abcdef".utf8).digest)])
    let problem = try await site.refusal(manifest)
    #expect(problem.code == .downloadFailed, "\(problem)")
    #expect(site.names.isEmpty)
    isCut.withLock { $0 = false }
    _ = try await site.fetch(manifest)
    #expect(site.names.count == 1)
  }

  @Test("all files that fail are reported, and the others stay for the next round", .rule("fleet.10"))
  func several() async throws {
    let server = try server()
    let (good, other) = (file(65, of: server), Data("other".utf8).digest)
    let manifest = try site.manifest([
      (file(66, of: server).url, other), good, (file(67, of: server).url, String(other.reversed())),
    ])
    do {
      _ = try await site.fetch(manifest)
      Issue.record("it is not refused")
    } catch let error as ManifestError {
      #expect(error.problems.map(\.pointer.description) == ["/plugins/0/url", "/plugins/2/url"])
    }
    #expect(site.names == ["\(good.digest).so"])
  }

  @Test("two nodes share a folder, also while both download the same file", .rule("fleet.10"))
  func shared() async throws {
    let server = try server()
    let files = (65..<75).map { file($0, of: server) }
    let manifest = try site.manifest(files)
    let found = try await withThrowingTaskGroup(of: DownloadedPlugins.self, returning: [DownloadedPlugins].self) { group in
      for _ in 0..<4 { group.addTask { [site] in try await site.fetch(manifest) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(site.names == files.map { "\($0.digest).so" }.sorted())
    for one in found {
      #expect(one.replacingURLs(in: manifest).plugins.allSatisfy { if case .file = $0.source { true } else { false } })
    }
  }

  @Test("the oldest files are removed, but none that is in use or kept", .rule("fleet.10"))
  func eviction() async throws {
    let server = try server()
    let files = (65..<71).map { file($0, of: server) }
    var leases: [DownloadedPlugins] = []
    for (age, file) in files.enumerated() {
      let lease = try await site.fetch(try site.manifest([file]))
      if age == 1 { leases.append(lease) }
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1_000_000 + Double(age))], ofItemAtPath: site.cached(file.digest))
    }
    var limits = DownloadLimits()
    limits.maximumCacheBytes = 4000
    // The newest is in use by this round, the second oldest by the lease, and the oldest is kept.
    _ = try await site.fetch(try site.manifest([files[5]]), limits, keeping: [files[0].digest])
    #expect(Set(site.names) == Set([0, 1, 4, 5].map { "\(files[$0].digest).so" }))
    #expect(DownloadLimits().maximumCacheBytes == 1 << 30)
    withExtendedLifetime(leases) {}
  }

  @Test("the partial files of a killed process are removed, but not a file that is being written", .rule("fleet.10"))
  func leftovers() async throws {
    let server = try server()
    _ = try await site.fetch(try site.manifest([file(65, of: server)]))
    let (left, held) = ("\(site.cache)/1.partial", "\(site.cache)/2.partial")
    for path in [left, held] { try Data("a".utf8).write(to: URL(filePath: path)) }
    let descriptor = unsafe open(held, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    _ = try await site.fetch(try site.manifest([file(65, of: server)]))
    #expect(!FileManager.default.fileExists(atPath: left) && FileManager.default.fileExists(atPath: held))
  }

  @Test("on a full disk the file is refused, and nothing of it stays", .rule("fleet.10"), .enabled(if: getuid() == 0))
  func diskFull() async throws {
    try FileManager.default.createDirectory(atPath: site.cache, withIntermediateDirectories: true)
    let mounted = try await ToolRun(
      URL(filePath: "/usr/bin/env"), ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", site.cache])
    // A container may not be allowed to mount.
    guard mounted.status == 0 else { return }
    let body = String(repeating: "a", count: 200_000)
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.respond(body: body) })
    let problem = try await site.refusal(try site.manifest([("\(server.origin)/a.so", Data(body.utf8).digest)]))
    #expect(problem.code == .downloadFailed && problem.message.contains("No space left on device"), "\(problem)")
    #expect(site.names.isEmpty)
    _ = try await ToolRun(URL(filePath: "/usr/bin/env"), ["umount", site.cache])
  }

  @Test("a folder that others may write to is refused", .rule("fleet.10"))
  func unsafeFolder() async throws {
    try FileManager.default.createDirectory(atPath: site.cache, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: site.cache)
    let problem = try await site.refusal(try site.manifest([("http://127.0.0.1:1/a.so", String(repeating: "0", count: 64))]))
    #expect(problem.message.contains("chmod go-w"), "\(problem)")
  }
}
