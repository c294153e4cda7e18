import Carabiner
import CarabinerCurl
import Foundation
import Glibc
import ScriptedServer
import Testing

@Suite("Proxies", .overBothEngines)
struct ProxyTests {
  /// A proxy that answers by itself, and returns the request that it received.
  private static func proxy() throws -> ScriptedServer {
    try ScriptedServer(ScriptedServer.answering { request, peer in try peer.respond(body: "proxied \(request.target)") })
  }

  private static func configuration(_ proxy: CurlTransport.Configuration.Proxy) -> CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.proxy = proxy
    return configuration
  }

  @Test("the environment names the proxy and the hosts that are reached without it")
  func environment() async throws {
    // The environment is that of the whole process, so this test needs its own process.
    await #expect(processExitsWith: .success) {
      let proxy = try ProxyTests.proxy()
      let server = try ScriptedServer(otherwise: { _, peer in try peer.respond(body: "direct") })
      unsafe setenv("http_proxy", proxy.origin, 1)
      unsafe setenv("no_proxy", "127.0.0.1,.direct.test", 1)
      let transport = try CurlTransport.tested()
      let proxied = try await transport.fetch("http://graphql.test/path?q=1").text
      let direct = try await transport.fetch(server.origin).text
      let ignoring = try CurlTransport.tested(ProxyTests.configuration(.none))
      let unresolved = try await ignoring.failure("http://graphql.invalid/").code
      guard proxied == "proxied http://graphql.test/path?q=1", direct == "direct", unresolved == .nameNotResolved else {
        print("proxied: \(proxied), direct: \(direct), unresolved: \(unresolved)")
        exit(1)
      }
    }
  }

  @Test("a configured proxy is used")
  func configured() async throws {
    let proxy = try Self.proxy()
    let transport = try CurlTransport.tested(Self.configuration(.url(proxy.origin)))
    #expect(try await transport.fetch("http://graphql.test/a").text == "proxied http://graphql.test/a")
    #expect(try await transport.transferCount == 0)
  }

  @Test("an unreachable proxy is reported, not the server")
  func dead() async throws {
    let transport = try CurlTransport.tested(Self.configuration(.url("http://127.0.0.1:1")))
    let error = try await transport.failure("http://graphql.test/")
    #expect(error.code == .proxyFailed, "\(error)")
    #expect(error.message.contains("check http_proxy"))
    #expect(!error.mayHaveBeenSent)
  }

  @Test("https uses a tunnel, whose response head is not part of the response")
  func tunnel() async throws {
    let server = try await WebServer()
    let proxy = try ScriptedServer { peer in
      guard let request = try peer.request(), request.method == "CONNECT" else { return }
      try peer.send("HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
      try peer.relay(to: server.port)
    }
    var configuration = Self.configuration(.url(proxy.origin))
    configuration.certificateAuthorityFile = server.authorityFile
    let transport = try CurlTransport.tested(configuration)
    let answer = try await transport.fetch("\(server.origin)/", method: "GET", body: nil)
    #expect(answer.text.hasSuffix("HTTP/2.0 GET"))
    #expect(answer.head.headers["X-Proxy"] == nil)
    #expect(answer.head.headers["Server"]?.hasPrefix("nginx") == true)
    #expect(proxy.requests.map(\.target) == ["127.0.0.1:\(server.port)"])
  }

  @Test("a tunnel that is refused is the proxy's failure")
  func refusedTunnel() async throws {
    let proxy = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond("403 Forbidden", body: "no") })
    let transport = try CurlTransport.tested(Self.configuration(.url(proxy.origin)))
    let error = try await transport.failure("https://graphql.test/")
    #expect(error.code == .proxyFailed, "\(error)")
    #expect(error.message.contains("403"))
    #expect(try await transport.transferCount == 0)
  }
}
