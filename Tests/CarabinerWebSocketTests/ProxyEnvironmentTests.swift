import Foundation
import Testing

@testable import CarabinerWebSocket

@Suite("The proxy of the environment for WebSockets")
struct ProxyEnvironmentTests {
  private func usesProxy(_ url: String, except list: String) throws -> Bool {
    let endpoint = try WebSocketEndpoint(try #require(URL(string: url)))
    return ProxyEnvironment(["http_proxy": "http://proxy.test:8080", "no_proxy": list]).variable(for: endpoint) != nil
  }

  @Test(
    "no_proxy exempts names, addresses and networks",
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "127.0.0.0/8"), ("127.0.0.1", "10.0.0.0/8,127.0.0.0/16"),
      ("127.0.0.1", "127.0.0.9/8"), ("10.11.12.13", "10.11.12.8/29"), ("[2001:db8::1]", "2001:db8::/32"), ("[::1]", "::1"),
      ("a.example.com", "example.com"), ("a.example.com", "10.0.0.0/8 .example.com"), ("a.example.com", "*"), ("127.0.0.1", "*"),
    ])
  func exempt(host: String, list: String) throws { try #expect(!usesProxy("ws://\(host)/graphql", except: list)) }

  @Test(
    "other entries of no_proxy exempt nothing",
    arguments: [
      ("127.0.0.1", "10.0.0.0/8"), ("127.0.0.1", "127.0.0.0/33"), ("127.0.0.1", "127.0.0.0/"), ("127.0.0.1", "127.0.0.0/x"),
      ("10.11.12.16", "10.11.12.8/29"), ("[2001:db9::1]", "2001:db8::/32"), ("a.example.org", "example.com"),
      ("a.example.com", "10.0.0.0/0"), ("127.0.0.1", ""),
    ])
  func others(host: String, list: String) throws { try #expect(usesProxy("ws://\(host)/graphql", except: list)) }
}
