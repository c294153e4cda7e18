import CarabinerDigest
import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// Plugins in several languages in one chain of an older generation.
@Suite("Plugins in other languages in chains of older generations", .timeLimit(.minutes(10)))
struct OlderPluginTests {
  private static let fixtures = Repository.root.appending(path: "Tests/Fixtures/Plugins/older")

  private func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

  @Test(
    "a plugin in Swift changes the result inside the store, and a plugin in C signs what the plugin in Swift sends",
    .rule("pipeline.61"))
  func callbacks() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"book":{"title":"Solaris"}}}"#)
      })
    let edition = try await BadPlugin(Self.fixtures.appending(path: "edition.swift")).built()
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      plugins:
        - {name: edition, file: \(edition)}
        - name: hmac-sign
          file: \(CommandRun.root.path)/Plugins/hmac-sign/build/hmac-sign.so
          config: {key: secret}
      chain: {graphql: [edition], http: [hmac-sign, response-code]}
      """)
    let example = try await ToolRun(
      Repository.root.appending(path: ".build/debug/CallbackClient"), [manifest.path, "\(server.origin)/graphql"])
    #expect(example.status == 0, "\(example.errors)")
    // The store has the result as the plugin made it.
    #expect(
      example.output.split(separator: "\n").filter { $0.contains(", from ") } == [
        "Solaris, revised, from the server", "Solaris, revised, from the cache",
      ])
    #expect(server.requests.count == 1)
    let request = try #require(server.requests.first)
    #expect(String(decoding: request.body, as: UTF8.self).contains(#""edition":"revised""#))
    let time = try #require(request.header("X-Timestamp"))
    let signed = "POST\n/graphql\n\(time)\n\(hexadecimal(Digest.sha256(Array(request.body))))\n"
    #expect(
      request.header("X-Signature") == "v1=" + hexadecimal(Digest.hmacSHA256(Array(signed.utf8), key: Array("secret".utf8))))
  }

  @Test("a plugin in Rust signs unary requests, and a plugin in C has the chunks of a stream", .rule("connect.58", "connect.61"))
  func connect() async throws {
    let (server, folder) = (try await ConnectServer(), try FixturePlugin.Folder())
    let signature = try await BadPlugin(Self.fixtures.appending(path: "body-signature.rs")).built()
    let source = Repository.root.appending(path: "Tests/Examples/ConnectCalls/Plugin/chunk_count.c").path
    let count = try await FixturePlugin.compile(at: source, into: folder, name: "chunk-count.so")
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      protocol: connect
      endpoint: \(server.host)
      plugins:
        - {name: body-signature, file: \(signature), config: {key: secret}}
        - {name: chunk-count, file: \(count)}
      rules:
        - {when: {type: mutation}, chain: {http: [body-signature]}}
        - {when: {type: subscription}, chain: {http: [chunk-count]}}
      """)
    let unary = try await CommandRun(["call", "-m", manifest.path, "--trace", "peer.v1.Peer/Headers", #""a""#])
    #expect(unary.status == 0 && !unary.errors.contains("chunk-count"), "\(unary.errors)")
    let fields = try JSONValue(parsing: unary.output.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(
      fields["x-body-signature"]?.string == hexadecimal(Digest.hmacSHA256(Array(#""a""#.utf8), key: Array("secret".utf8))))
    let stream = try await CommandRun(["call", "-m", manifest.path, "--trace", "--stream", "peer.v1.Peer/Count", "3"])
    #expect(stream.status == 0 && stream.output == "1\n2\n3\n", "\(stream.errors)")
    #expect(stream.errors.contains(/chunk-count +on_chunk/) && !stream.errors.contains("body-signature"), "\(stream.errors)")
  }
}
