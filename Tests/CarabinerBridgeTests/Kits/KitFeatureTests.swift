import Carabiner
import CarabinerManifest
import Foundation
import TestTools
import Testing

@testable import CarabinerBridge
@testable import CarabinerProvider

/// Features of `carabiner.h` besides stages and waiting, in each language.
@Suite("Kits for plugin authors: other features")
struct KitFeatureTests {
  @Test("a library registers several interceptors, each with its thread class and its texts", arguments: KitPlugin.allCases)
  func interceptors(kit: KitPlugin) async throws {
    let library = try PluginLibrary.load(path: try await kit.path)
    #expect(library.interceptors.map(\.id) == ["org.carabiner.test.kit", "org.carabiner.test.kit.second"])
    #expect(library.interceptors.map(\.threadClass) == [3, 1])
    let first = try #require(library.interceptors.first)
    #expect(first.name == "Kit" && first.vendor == "Carabiner" && first.url == "https://kit.example")
    #expect(first.accept == "text/x-kit")
    #expect(library.note.capabilities == ["varies"])
  }

  @Test("each call has an instance of its own if the thread class says so", arguments: KitPlugin.allCases)
  func instancePerCall(kit: KitPlugin) async throws {
    let chain = try await KitChain(kit, interceptor: "org.carabiner.test.kit.second", lists: "graphql: [kit]")
    defer { chain.server.stop() }
    for _ in 0..<3 { #expect(try await chain.pass(.networkOnly).name == "second 1") }
  }

  @Test(
    "an instance learns that no new calls will start before it ends, and a failure there is contained",
    arguments: KitPlugin.allCases, ["drain", "throw in drain"])
  func drain(kit: KitPlugin, mode: String) async throws {
    let folder = try FixturePlugin.Folder()
    let journal = try JournalFile(in: folder)
    _ = try await KitChain(kit, mode, journal: journal.url.path).run()
    _ = await eventually { try journal.lines().count >= 2 }
    #expect(try journal.lines() == ["drain", "plugin"])
  }

  @Test(
    "a member of the configuration that is null is as good as missing", arguments: KitPlugin.allCases,
    [("", "missing"), (", extra: null", "missing"), (", extra: {}", "given")])
  func nullMember(kit: KitPlugin, _ extra: (members: String, name: String)) async throws {
    #expect(try await KitChain(kit, "extra", members: extra.members, lists: "graphql: [kit]").run().name == extra.name)
  }

  @Test("an instance knows the path of its library in the manifest", arguments: KitPlugin.allCases)
  func origin(kit: KitPlugin) async throws {
    #expect(try await KitChain(kit, "origin").run().name == kit.path)
  }

  @Test("a repeating timer runs again and again", arguments: KitPlugin.allCases)
  func repeating(kit: KitPlugin) async throws {
    let chain = try await KitChain(kit, "tick")
    _ = try await chain.run()
    #expect(chain.server.requests.first?.lowercased().contains("x-kit-ticks: 3\r\n") == true)
  }

  @Test("a failure has flags, and the flags and the origin of others are seen", arguments: KitPlugin.allCases)
  func errorFlags(kit: KitPlugin) async throws {
    let error = await #expect(throws: PluginError.self) { try await KitChain(kit, "flags").run() }
    #expect(error?.message == "asleep" && error?.flags == 1 << 0 | 1 << 8)
    #expect(try await KitChain(kit, "error", status: 503).run().name == "retryable chain")
  }

  // MARK: Accept

  private static let ownTypes = "application/graphql-response+json,application/json"

  @Test(
    "a parser adds its media type to Accept, in front of the others if it is in front of json", arguments: KitPlugin.allCases,
    [
      ("[kit, json]", "text/x-kit," + ownTypes), ("[json, kit]", ownTypes + ",text/x-kit"), ("[kit]", "text/x-kit," + ownTypes),
      ("[json]", ownTypes),
    ])
  func accept(kit: KitPlugin, _ expected: (parsers: String, accept: String)) async throws {
    let chain = try await KitChain(kit, lists: "graphql: [kit], parsing: \(expected.parsers)")
    defer { chain.server.stop() }
    _ = try? await chain.pass(.networkOnly)
    let request = try #require(chain.server.requests.first).lowercased()
    #expect(request.contains("accept: \(expected.accept)\r\n"), "\(request)")
  }

  @Test("a request that says itself what it accepts keeps that", arguments: KitPlugin.allCases)
  func ownAccept(kit: KitPlugin) async throws {
    let chain = try await KitChain(kit)
    defer { chain.server.stop() }
    _ = try await chain.pass(.networkOnly, headers: ["accept": "text/x-kit;q=1"])
    let request = try #require(chain.server.requests.first).lowercased()
    #expect(request.contains("accept: text/x-kit;q=1\r\n") && !request.contains("multipart"), "\(request)")
  }

  @Test("cbor-parser asks for CBOR")
  func cbor() async throws {
    let path = Repository.root.appending(path: "Plugins/cbor-parser/build/cbor-parser.so").path
    let manifest = try Manifest(
      text: "carabiner: 1\nplugins: [{name: cbor, file: \(path)}]\nchain: {parsing: [cbor, json]}")
    let transport = AnsweringTransport()
    #expect(try await HostedPlugins.name(HostedChain(manifest), transport) == "server")
    let accept = transport.requests.first?.headers["Accept"]
    #expect(accept?.lowercased() == "application/cbor," + Self.ownTypes)
  }
}
