import Carabiner
import CarabinerHost
import Foundation
import InMemoryTracing
import ScriptedServer
import TestTools
import Testing
import Tracing

@Suite("A host in one's own program")
struct PluginHostTests {
  @Test("two hosts of one process run the chains of their own manifests, and one goes on when the other has ended")
  func twoHosts() async throws {
    let chains = (try await StampedChain("one"), try await StampedChain("two"))
    var first: PluginHost? = try await PluginHost(manifest: chains.0.manifest)
    let second = try await PluginHost(manifest: chains.1.manifest)
    let clients = (
      ApolloClient(networkTransport: try #require(first).transport), ApolloClient(networkTransport: second.transport)
    )
    try await #expect(clients.0.stamp() == stamped("one"))
    try await #expect(clients.1.stamp() == stamped("two"))
    try await chains.0.build("three")
    try await #require(first).reload()
    try await #expect(clients.0.stamp() == stamped("three"))
    try await #expect(clients.1.stamp() == stamped("two"))
    #expect((first?.generation, second.generation) == (2, 1))
    await first?.shutDown()
    first = nil
    try await #expect(clients.1.stamp() == stamped("two"))
  }

  @Test("a reload returns what has changed, and is an event together with the end of the earlier generation")
  func reload() async throws {
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let events = host.events
    try await chain.build("two")
    let change = try await host.reload()
    #expect((change.kind, change.generation) == (.accepted, 2))
    #expect(change.changes.count == 1 && change.changes[0].hasPrefix("~ plugin stamp: its file, from "))
    var kinds: [GenerationEvent.Kind] = []
    for await event in events {
      kinds.append(event.kind)
      if event.kind == .ended {
        #expect(event.generation == 1)
        break
      }
    }
    #expect(kinds == [.accepted, .ended])
  }

  @Test("a manifest that is refused throws all its problems, and the earlier generation goes on")
  func refusedReload() async throws {
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let client = ApolloClient(networkTransport: host.transport)
    try chain.write("carabiner: 1\nendpoint: \(chain.upstream.origin)\nnonsense: 1\nsettings: {timeout: never}\n")
    let error = try #require(await refusal { try await host.reload() })
    #expect(error.code == .refused)
    #expect(error.problems.map(\.pointer).sorted() == ["/nonsense", "/settings/timeout"])
    #expect(error.problems.allSatisfy { $0.line != nil })
    #expect(host.generation == 1)
    try await #expect(client.stamp() == stamped("one"))
  }

  @Test("a manifest that is refused makes no host")
  func refusedStart() async throws {
    let chain = try await StampedChain("one")
    try chain.write("carabiner: 1\nplugins: [{name: p, file: absent.so}]\n")
    let error = try #require(await refusal { _ = try await PluginHost(manifest: chain.manifest) })
    #expect(error.code == .refused && error.message.contains("absent.so"), "\(error)")
  }

  @Test("a folder for state is one host's at a time")
  func stateFolder() async throws {
    let chain = try await StampedChain("one")
    var configuration = PluginHost.Configuration()
    configuration.stateDirectory = chain.folder.file("state").path
    var first: PluginHost? = try await PluginHost(manifest: chain.manifest, configuration: configuration)
    let error = try #require(
      await refusal { _ = try await PluginHost(manifest: chain.manifest, configuration: configuration) })
    #expect(error.code == .inUse)
    #expect(first?.generation == 1)
    first = nil
    _ = try await PluginHost(manifest: chain.manifest, configuration: configuration)
  }

  @Test("a folder for state is free when its host has ended, even if a process that is being started has its lock open")
  func stateFolderOfStartedProcess() async throws {
    let chain = try await StampedChain("one")
    var configuration = PluginHost.Configuration()
    configuration.stateDirectory = chain.folder.file("state").path
    var first: PluginHost? = try await PluginHost(manifest: chain.manifest, configuration: configuration)
    #expect(first?.generation == 1)
    // Between fork and exec, a child has the same open file as a duplicate of the descriptor.
    let path = chain.folder.file("state/lock").resolvingSymlinksInPath().path
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
    }
    let duplicate = dup(try #require(open.first))
    defer { close(duplicate) }
    #expect(open.count == 1 && duplicate >= 0)
    first = nil
    let second = try await PluginHost(manifest: chain.manifest, configuration: configuration)
    #expect(second.generation == 1)
  }

  @Test("a host that is shut down refuses a reload, and its events end")
  func shutDown() async throws {
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let events = host.events
    await host.shutDown()
    #expect(await refusal { try await host.reload() }?.code == .shutDown)
    for await _ in events {}
    for await _ in host.events {}
  }

  @Test("a tracer gets spans of the stages and of the transfer, within the caller's")
  func tracer() async throws {
    let chain = try await StampedChain("one")
    let tracer = InMemoryTracer()
    var configuration = PluginHost.Configuration()
    configuration.tracer = tracer
    let host = try await PluginHost(manifest: chain.manifest, configuration: configuration)
    _ = try await ApolloClient(networkTransport: host.transport).stamp()
    let spans = tracer.finishedSpans
    #expect(spans.contains { $0.kind == .client })
    #expect(spans.contains { $0.operationName.contains("stamp") }, "\(spans.map(\.operationName))")
  }

  @Test("a secret in an endpoint is not in a text that the host redacts")
  func redaction() async throws {
    let chain = try await StampedChain("one", "headers: {authorization: \"${env:CARABINER_TEST_SECRET}\"}")
    unsafe setenv("CARABINER_TEST_SECRET", "s3cr3t-of-the-test", 1)
    let host = try await PluginHost(manifest: chain.manifest)
    #expect(!host.redacted("it is s3cr3t-of-the-test").contains("s3cr3t"))
  }

  @Test("a canary that passes takes over by the operations of a transport")
  func canary() async throws {
    let canary = "serve: {canary: {share: 100%, for: 1ms, minimum-operations: 5, latency-ratio: 1000}}"
    let chain = try await StampedChain("one", canary)
    let host = try await PluginHost(manifest: chain.manifest)
    let client = ApolloClient(networkTransport: host.transport)
    let events = host.events
    try await chain.build("two")
    #expect(try await host.reload().kind == .onTrial)
    for _ in 0..<5 { try await #expect(client.stamp() == stamped("two")) }
    for await event in events where event.kind == .promoted { break }
    #expect(host.generation == 2)
  }

  private func refusal(_ body: () async throws -> Void) async -> ServerError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? ServerError
    }
  }
}
