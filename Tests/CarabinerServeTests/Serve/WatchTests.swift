import CarabinerWire
import CommandTools
import Foundation
import Synchronization
import TestTools
import Testing

/// The watched files whose changes make a new generation, and the effect on plugin instances.
@Suite("carabiner serve: files that are watched")
struct WatchTests {
  private static let manifest = """
    carabiner: 1
    serve: {return-headers: [x-stamp-*]}
    plugins: [{name: stamp, file: stamp.so, config: {stamp-file: STAMP}}]
    built-ins: {store: {file: store.sqlite}}
    chain: {http: [stamp, response-code]}

    """

  private let upstream: DemoServerProcess
  private let folder: StoreFolder

  init() throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
  }

  /// A gateway with a plugin that reads its stamp from a file when its instance is made.
  private func gateway(isWatched: Bool, _ arguments: [String]) async throws -> ServeProcess {
    let keyword = isWatched ? #",\"x-carabiner-watch\":true"# : ""
    let plugin = try await CompiledFixture("stamp", defining: ["STAMP_FILE=\"\(keyword)\""])
    try FileManager.default.copyItem(atPath: plugin.path, toPath: folder.file("stamp.so"))
    _ = try folder.write("one\n", to: "stamp.txt")
    _ = try folder.write(Self.manifest.replacing("STAMP", with: folder.file("stamp.txt")), to: "chain.yaml")
    return try ServeProcess(folder, endpoint: upstream.endpoint, arguments)
  }

  private func stamp(_ gateway: ServeProcess) throws -> String? {
    try gateway.query("{ __typename }").head.first { $0.lowercased().hasPrefix("x-stamp-up: ") }
      .map { String($0.dropFirst("x-stamp-up: ".count)) }
  }

  /// Waits for a reload to be reported; nil if there is none for a long time.
  private func lastReload(_ gateway: ServeProcess) async throws -> JSONValue? {
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      if let reload = try await gateway.status()["lastReload"], !reload.isNull { return reload }
      try await Task.sleep(for: .milliseconds(100))
    }
    return nil
  }

  @Test("files beside the manifest that it does not name do not count, however often they change", .rule("gateway.31"))
  func neighbours() async throws {
    let gateway = try await gateway(isWatched: true, ["--watch", "--record", folder.file("traffic.jsonl")])
    // A record or a log under load changes like this. A watch of the whole folder would never find it quiet and never reload.
    let isOver = Flag()
    let folder = folder
    let reload = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
      group.addTask {
        var number = 0
        while !isOver.isSet {
          number += 1
          _ = try folder.write("\(number)", to: "neighbour-\(number % 3).log")
          _ = try await offThePool { try gateway.query("query Load { __typename }") }
          try await Task.sleep(for: .milliseconds(20))
        }
        return nil
      }
      group.addTask {
        defer { isOver.set() }
        // The text differs each time, because the first changes can come before the first look of the watch.
        for number in 0..<60 {
          _ = try folder.write("two\n" + String(repeating: "#", count: number), to: "stamp.txt")
          try await Task.sleep(for: .seconds(1))
          if let reload = try await gateway.status()["lastReload"], !reload.isNull { return reload }
        }
        return nil
      }
      return try await group.reduce(nil) { $0 ?? $1 }
    }
    #expect(reload?["trigger"] == "change of files")
    #expect(try stamp(gateway) == "two")
  }

  @Test(
    "record, logs, store and state beside the manifest cause no reload in 10 s under load; a file that it names does",
    .rule("gateway.31"))
  func ownFiles() async throws {
    _ = try folder.write(
      """
      carabiner: 1
      serve: {cache-policy: networkFirst}
      built-ins: {store: {file: store.sqlite}}
      headers: {X-Key: "${file:key.txt}"}

      """, to: "chain.yaml")
    _ = try folder.write("one", to: "key.txt")
    let gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint,
      [
        "--watch", "--record", folder.file("traffic.jsonl"), "--log-file", folder.file("gateway.log"), "--access-log-file",
        folder.file("access.log"), "--state", folder.file("state"),
      ], environment: ["CARABINER_LOG": "trace"])
    // Forty looks of the watch.
    let end = ContinuousClock.now + .seconds(10)
    var queries = 0
    while ContinuousClock.now < end {
      #expect(try await offThePool { try gateway.query("query Load { __typename books { title } }") }.status == 200)
      queries += 1
    }
    #expect(queries > 0)
    #expect(try await gateway.status()["reloads"]?["all"] == 0)
    for name in ["traffic.jsonl", "access.log", "store.sqlite"] {
      #expect(try FileManager.default.attributesOfItem(atPath: folder.file(name))[.size] as? Int ?? 0 > 0, "\(name)")
    }
    // The watch runs: a file that the manifest names counts.
    _ = try folder.write("two, and longer", to: "key.txt")
    #expect(try await lastReload(gateway)?["trigger"] == "change of files")
  }

  @Test(
    "a change of a file that the plugin's schema marks makes a new instance, and other files are ignored",
    arguments: [true, false])
  func markedFile(isMarked: Bool) async throws {
    let gateway = try await gateway(isWatched: isMarked, [])
    #expect(try stamp(gateway) == "one")
    _ = try folder.write("two, and longer\n", to: "stamp.txt")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try stamp(gateway) == (isMarked ? "two, and longer" : "one"))
  }

  @Test("reload --force makes all instances new, and the next reload keeps them")
  func forced() async throws {
    let gateway = try await gateway(isWatched: false, [])
    _ = try folder.write("two\n", to: "stamp.txt")
    #expect(try await gateway.ask("reload", "--force").status == 0)
    #expect(try stamp(gateway) == "two")
    _ = try folder.write("three\n", to: "stamp.txt")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try stamp(gateway) == "two")
  }

  @Test("a manifest that names a plugin which is not there yet is read again once it is")
  func builtLater() async throws {
    let gateway = try await gateway(isWatched: true, ["--watch"])
    var text = try String(contentsOfFile: folder.file("chain.yaml"), encoding: .utf8)
    text = text.replacing("file: stamp.so", with: "file: later.so")
    for number in 0..<60 {
      _ = try folder.write(text + String(repeating: "#", count: number), to: "chain.yaml")
      try await Task.sleep(for: .seconds(1))
      if try await gateway.status()["reloads"]?["refused"] != 0 { break }
    }
    #expect(try await lastReload(gateway)?["outcome"] == "refused")
    try FileManager.default.copyItem(atPath: folder.file("stamp.so"), toPath: folder.file("later.so"))
    let deadline = ContinuousClock.now + .seconds(120)
    while try await gateway.status()["lastReload"]?["outcome"] == "refused", ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(try await lastReload(gateway)?["outcome"] == "accepted")
  }
}

/// A flag that one task sets and another reads.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}
