import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The state that this repository's plugins hand over to a new generation.
@Suite("carabiner serve: plugin state outlives a reload")
struct HandoverTests {
  private let server: StrawberryServer
  private let folder: StoreFolder
  private let gateway: ServeProcess

  init() async throws {
    server = try await StrawberryServer(["--require-auth"])
    folder = try StoreFolder()
    _ = try folder.write(Self.manifest(server), to: "chain.yaml")
    gateway = try ServeProcess(folder, endpoint: server.endpoint)
  }

  /// - Parameter seconds: A setting with no effect here. Changing it makes every instance new.
  private static func manifest(_ server: StrawberryServer, client: String = "one", seconds: Int = 60) -> String {
    let plugins = Repository.root.appending(path: "Plugins").path
    return """
      carabiner: 1
      serve: {cache-policy: cacheFirst}
      plugins:
        - name: token-auth
          file: \(plugins)/token-auth/build/token-auth.so
          grants: [fetch]
          config:
            {token-url: "http://127.0.0.1:\(server.port)/token", client-id: \(client), client-secret: s3cret, timeout-seconds: \(seconds)}
        - {name: ttl-cache, file: \(plugins)/ttl-cache/build/ttl-cache.so, config: {ttl-seconds: \(seconds)}}
      chain: {graphql: [token-auth], cache: [ttl-cache], http: [response-code]}
      """
  }

  private func reload(client: String = "one", seconds: Int) async throws {
    _ = try folder.write(Self.manifest(server, client: client, seconds: seconds), to: "chain.yaml")
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 0, "\(reload.output)\(reload.errors)")
  }

  private func tokensIssued() async throws -> String {
    try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-sS", "http://127.0.0.1:\(server.port)/tokens-issued"]).output
  }

  @Test("a token is used on, as long as it is of the same client")
  func token() async throws {
    #expect(try gateway.query("{ a: books { title } }").status == 200)
    #expect(try await tokensIssued() == "1")
    try await reload(seconds: 61)
    #expect(try gateway.query("{ b: books { title } }").status == 200)
    #expect(try await tokensIssued() == "1")
    try await reload(client: "two", seconds: 61)
    #expect(try gateway.query("{ c: books { title } }").status == 200)
    #expect(try await tokensIssued() == "2")
  }

  @Test("cached results are still served after a reload, even if the server is down")
  func cache() async throws {
    let first = try gateway.query("{ books { title } }")
    #expect(first.status == 200)
    try await reload(seconds: 61)
    server.end()
    let second = try gateway.query("{ books { title } }")
    #expect(second.status == 200 && second.text == first.text)
    #expect(try gateway.query("{ books { id } }").status >= 500)
  }
}
