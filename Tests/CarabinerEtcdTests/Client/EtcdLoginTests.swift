import Carabiner
import CarabinerEtcd
import CarabinerWire
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("Logins at etcd")
struct EtcdLoginTests {
  private func login(_ user: String, _ password: String = "secret") -> (inout EtcdSettings) -> Void {
    { $0.login = .init(user: user, password: password) }
  }

  @Test("a role that may read only reads and watches; the error names what it may not", .rule("fleet.3"))
  func reader() async throws {
    let server = try await EtcdServer.single()
    try await server.enableLogins()
    let root = try EtcdTest.client(server.url, change: login("root"))
    try await root.put("p/stable", "one")
    let node = try EtcdTest.client(server.url, change: login("node"))
    let view = try await node.view(of: [.all(prefix: "p/")])
    #expect(view.texts == ["p/stable": "one"])
    let watch = try await node.watch(.all(prefix: "p/"), from: view.revision + 1)
    try await root.put("p/stable", "two")
    #expect(try await watch.next().events.count == 1)
    for body in [{ try await node.put("p/nodes/a", "x") }, { try await node.put("q", "x") }] {
      let error = await #expect(throws: EtcdError.self) { try await body() }
      #expect(error?.code == .denied)
      #expect(error?.message.contains("grant the user's role") == true)
    }
    let error = await #expect(throws: EtcdError.self) { try await node.watch(.one("q"), from: 1) }
    #expect(error?.code == .denied)
    #expect(error?.message.contains("grant the user's role") == true)
  }

  @Test("a wrong password and a missing login have different messages, without the password", .rule("fleet.3"))
  func wrong() async throws {
    let server = try await EtcdServer.single()
    try await server.enableLogins()
    let wrong = try EtcdTest.client(server.url, change: login("node", "hunter2"))
    let error = await #expect(throws: EtcdError.self) { try await wrong.range(.init(.one("p/a"))) }
    #expect(error?.code == .unauthenticated)
    #expect(error?.message.contains("check the user and the password") == true && error?.message.contains("hunter2") == false)
    let without = try EtcdTest.client(server.url)
    let missing = await #expect(throws: EtcdError.self) { try await without.range(.init(.one("p/a"))) }
    #expect(missing?.code == .unauthenticated && missing?.message.contains("set the user and the password") == true)
  }

  @Test("a token that etcd has forgotten is replaced, for a request and for a watch", .rule("fleet.3"))
  func forgotten() async throws {
    let server = try await EtcdServer.single()
    try await server.enableLogins()
    let client = try EtcdTest.client(server.url, change: login("node"))
    _ = try await client.range(.init(.one("p/a")))
    _ = try await client.range(.init(.one("p/a")))
    #expect(client.logins == 1)
    let root = try #require(
      try await server.ask("/v3/auth/authenticate", ["name": "root", "password": "secret"])["token"]?.string)
    // A new password ends the user's tokens, even if it is the old one.
    _ = try await server.ask("/v3/auth/user/changepw", ["name": "node", "password": "secret"], token: root)
    _ = try await client.range(.init(.one("p/a")))
    #expect(client.logins == 2)
    _ = try await server.ask("/v3/auth/user/changepw", ["name": "node", "password": "secret"], token: root)
    _ = try await client.watch(.one("p/a"), from: 1)
    #expect(client.logins == 3)
  }

  @Test("under a load of reads with tokens of 3 s no read fails, and a watch outlives its token", .rule("fleet.3"))
  func shortTokens() async throws {
    let keys = FileManager.default.temporaryDirectory.appending(path: "carabiner-tokens-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: keys) }
    let script = "openssl genrsa -out private.pem 2048 && openssl rsa -in private.pem -pubout -out public.pem"
    #expect(try await ToolRun(URL(filePath: "/bin/sh"), ["-c", script], in: keys).status == 0)
    let token = "jwt,pub-key=\(keys.path)/public.pem,priv-key=\(keys.path)/private.pem,sign-method=RS256,ttl=3s"
    let server = try await EtcdServer.single(.none, ["--auth-token", token])
    try await server.enableLogins()
    let (root, client) = (
      try EtcdTest.client(server.url, change: login("root")), try EtcdTest.client(server.url, change: login("node"))
    )
    let begin = try await client.range(.init(.one("p/a"))).revision
    let watch = try await client.watch(.one("p/a"), from: begin + 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while client.logins < 3 {
            let begin = ContinuousClock.now
            do {
              _ = try await client.range(.init(.one("p/a")))
            } catch {
              // On a busy machine, a new token may end before it is used. Tokens have whole seconds.
              guard .now - begin > .seconds(1) else { throw error }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await root.put("p/a", "late")
    #expect(try await watch.next().events.count == 1)
  }

  @Test("a change of users makes tokens of JWT invalid, and a new one is asked for", .rule("fleet.3"))
  func changedUsers() async throws {
    let keys = FileManager.default.temporaryDirectory.appending(path: "carabiner-tokens-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: keys) }
    let script = "openssl genrsa -out private.pem 2048 && openssl rsa -in private.pem -pubout -out public.pem"
    #expect(try await ToolRun(URL(filePath: "/bin/sh"), ["-c", script], in: keys).status == 0)
    let token = "jwt,pub-key=\(keys.path)/public.pem,priv-key=\(keys.path)/private.pem,sign-method=RS256,ttl=1h"
    let server = try await EtcdServer.single(.none, ["--auth-token", token])
    try await server.enableLogins()
    let client = try EtcdTest.client(server.url, change: login("node"))
    _ = try await client.range(.init(.one("p/a")))
    let root = try #require(
      try await server.ask("/v3/auth/authenticate", ["name": "root", "password": "secret"])["token"]?.string)
    _ = try await server.ask("/v3/auth/user/add", ["name": "other", "password": "secret"], token: root)
    _ = try await client.range(.init(.one("p/a")))
    #expect(client.logins == 2)
  }

  @Test("a server that refuses each token is asked once more for each request", .rule("fleet.3"))
  func onceForEachRequest() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let (status, body) =
          request.target == "/v3/auth/authenticate"
          ? ("200 OK", #"{"token":"t"}"#) : ("401 Unauthorized", #"{"error":"etcdserver: invalid auth token","code":16}"#)
        try peer.send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      })
    let client = try EtcdTest.client(server.origin, change: login("node"))
    for expected in [2, 5] {
      let error = await #expect(throws: EtcdError.self) { try await client.range(.init(.one("x"))) }
      #expect(error?.code == .unauthenticated)
      #expect(server.requests.count == expected, "\(server.requests.map(\.target))")
    }
    #expect(server.requests.allSatisfy { $0.header("Authorization") == ($0.target.contains("auth") ? nil : "t") })
  }

  @Test("a token that would be several header fields is refused", .rule("fleet.3"))
  func hostileToken() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        let body = #"{"token":"a\r\nX-Other: b"}"#
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      })
    let client = try EtcdTest.client(server.origin, change: login("node"))
    let error = await #expect(throws: EtcdError.self) { try await client.range(.init(.one("x"))) }
    #expect(error?.code == .malformed)
    #expect(server.requests.count == 1)
  }
}
