import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// GraphQL over WebSocket between clients and the gateway.
@Suite("carabiner serve: WebSockets (graphql-transport-ws)")
struct ServeWebSocketTests {
  private let upstream: DemoServerProcess
  private let folder: StoreFolder

  init() throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    _ = try folder.write(
      "carabiner: 1\nserve: {forward-headers: [x-ten*], connection-init-headers: [x-tenant]}\n", to: "chain.yaml")
  }

  private func gateway(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, arguments)
  }

  private func next(_ id: String, _ data: JSONValue) -> JSONValue {
    ["type": "next", "id": .string(id), "payload": ["data": data]]
  }

  private func complete(_ id: String) -> JSONValue { ["type": "complete", "id": .string(id)] }

  @Test("queries, mutations and subscriptions run side by side, each by its id")
  func operations() throws {
    let client = try WebSocketClient(initialised: try gateway())
    client.subscribe("s", "subscription { countdown(from: 2, everyMilliseconds: 20) }")
    client.subscribe("q", "{ __typename }")
    client.subscribe("d", #"{ book(id: 1) { title ... @defer { review } } }"#)
    client.subscribe("e", "{ failing }")
    var messages: [String: [JSONValue]] = [:]
    while messages.values.count(where: { $0.last?["type"] == "complete" }) < 4 {
      let message = try #require(client.message())
      messages[message["id"]?.string ?? "", default: []].append(message)
    }
    #expect(messages["s"] == [2, 1, 0].map { next("s", ["countdown": $0]) } + [complete("s")])
    #expect(messages["q"] == [next("q", ["__typename": "Query"]), complete("q")])
    // Complete results: a WebSocket client cannot ask for incremental parts here.
    #expect(messages["d"]?.count == 2)
    #expect(messages["d"]?.first?["payload"]?["data"]?["book"]?["review"]?.string?.isEmpty == false)
    #expect(messages["e"]?.first?["payload"]?["errors"]?.array?.count == 1)
    client.send(WebSocketClient.Opcode.close, [3, 232])
    #expect(client.next() == .closed(1000, reason: ""))
    #expect(client.next() == .gone)
  }

  @Test("a subscription that breaks off upstream, and an operation that is refused, end with errors, and the connection goes on")
  func errors() throws {
    let client = try WebSocketClient(initialised: try gateway())
    client.subscribe("1", "subscription { countdown(from: 2, everyMilliseconds: 20, failAt: 1) }")
    #expect(client.message() == next("1", ["countdown": 2]))
    var last = client.message()
    // The error can arrive inside a result or instead of one.
    if last?["type"] == "next" { last = last?["payload"]?["errors"].map { ["type": "error", "payload": $0] } }
    #expect(last?["payload"]?[0]?["message"]?.string?.contains("the countdown broke off") == true, "\(String(describing: last))")
    client.subscribe("2", "{ a ")
    var refusal = client.message()
    if refusal?["id"] == "1" { refusal = client.message() }
    #expect(refusal?["type"] == "error" && refusal?["id"] == "2")
    #expect(refusal?["payload"]?[0]?["extensions"]?["code"] == "GRAPHQL_PARSE_FAILED")
    client.subscribe("2", "{ __typename }")
    #expect(client.message() == next("2", ["__typename": "Query"]))
  }

  @Test("errors of a request that was not executed are an error message; with data, even null, they are a result")
  func requestErrors() throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let hasData = String(decoding: request.body, as: UTF8.self).contains("withData")
        try peer.respond(
          headers: "Content-Type: application/json\r\n",
          body: #"{\#(hasData ? #""data":null,"# : "")"errors":[{"message":"no"}]}"#)
      })
    let client = try WebSocketClient(initialised: try ServeProcess(folder, endpoint: "\(server.origin)/graphql"))
    client.subscribe("1", "{ without }")
    #expect(client.message() == ["type": "error", "id": "1", "payload": [["message": "no"]]])
    client.subscribe("2", "subscription { without }")
    #expect(client.message() == ["type": "error", "id": "2", "payload": [["message": "no"]]])
    client.subscribe("3", "{ withData }")
    #expect(client.message() == ["type": "next", "id": "3", "payload": ["data": .null, "errors": [["message": "no"]]]])
    #expect(client.message() == complete("3"))
  }

  @Test("headers of the handshake, and those the first message may add to them, go on if the manifest names them")
  func headers() throws {
    let gateway = try gateway()
    let query = #"{ named: echoHeader(name: "x-tenant") key: echoHeader(name: "sec-websocket-key") }"#
    let client = try WebSocketClient(initialised: gateway, ["X-Tenant": "t1"])
    client.subscribe("1", query)
    #expect(client.message() == next("1", ["named": "t1", "key": .null]))
    let page = try WebSocketClient(gateway)
    page.send(#"{"type":"connection_init","payload":{"headers":{"X-Tenant":"t2","X-Other":"o"}}}"#)
    #expect(page.message()?["type"] == "connection_ack")
    page.subscribe("1", query)
    #expect(page.message() == next("1", ["named": "t2", "key": .null]))
    let forger = try WebSocketClient(gateway, ["X-Tenant": "t1"])
    forger.send(#"{"type":"connection_init","payload":{"headers":{"X-Tenant":"t2","x-tenant":"t3"}}}"#)
    #expect(forger.message()?["type"] == "connection_ack")
    forger.subscribe("1", query)
    #expect(forger.message() == next("1", ["named": "t1", "key": .null]))
  }

  @Test("pings of both kinds are answered, and a message may come in pieces")
  func pieces() throws {
    let client = try WebSocketClient(try gateway())
    client.send(WebSocketClient.Opcode.text, Array(#"{"type":"conn"#.utf8), isFinal: false)
    client.send(WebSocketClient.Opcode.ping, Array("between".utf8))
    client.send(WebSocketClient.Opcode.continuation, [], isFinal: false)
    client.send(WebSocketClient.Opcode.continuation, Array(#"ection_init"}"#.utf8))
    #expect(client.message() == ["type": "connection_ack"])
    client.send(#"{"type":"ping","payload":{"a":[1]}}"#)
    #expect(client.message() == ["type": "pong", "payload": ["a": [1]]])
  }

  @Test("a client that completes an operation receives no more of it and can reuse the id, and the operation ends upstream")
  func completed() async throws {
    let gateway = try gateway()
    let client = try WebSocketClient(initialised: gateway)
    client.subscribe("1", "subscription { countdown(from: 100000, everyMilliseconds: 10) }")
    #expect(client.message() == next("1", ["countdown": 100_000]))
    client.complete("1")
    client.subscribe("1", "{ slow(seconds: 0.2) }")
    var message = client.message()
    while message?["payload"]?["data"]?["countdown"] != nil { message = client.message() }
    #expect(message?["payload"]?["data"]?["slow"] != nil)
    #expect(client.message() == complete("1"))
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
    client.complete("never begun")
    client.subscribe("2", "{ __typename }")
    #expect(client.message() == next("2", ["__typename": "Query"]))
  }

  @Test("a client that goes in the middle of a subscription ends it upstream too")
  func goneInTheMiddle() async throws {
    let gateway = try gateway()
    let client = try WebSocketClient(initialised: gateway)
    client.subscribe("1", "subscription { countdown(from: 100000, everyMilliseconds: 10) }")
    #expect(client.message() != nil)
    #expect(try await gateway.status()["operations"]?["running"]?.int == 1)
    client.hangUp()
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
  }

  @Test("after a reload, subscriptions stay in their generation, and new operations use the new one")
  func reload() async throws {
    let gateway = try gateway()
    let client = try WebSocketClient(initialised: gateway, ["X-Tenant": "t"])
    client.subscribe("old", "subscription { countdown(from: 100000, everyMilliseconds: 10) }")
    #expect(client.message() != nil)
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    client.subscribe("new", #"{ echoHeader(name: "x-tenant") }"#)
    var message = client.message()
    while message?["id"] == "old" { message = client.message() }
    #expect(message == next("new", ["echoHeader": .null]))
    #expect(try await gateway.status()["retired"]?[0]?["operations"]?.int == 1)
    client.complete("old")
    while try await gateway.status()["retired"]?.array?.isEmpty == false {}
  }

  @Test("SIGTERM lets queries finish, ends subscriptions, and closes with 1001")
  func drain() async throws {
    let mayAnswer = DispatchSemaphore(value: 0)
    let held = try ScriptedServer { peer in
      guard let request = try peer.request() else { return }
      guard String(decoding: request.body, as: UTF8.self).contains("subscription") else {
        mayAnswer.wait()
        return try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b; subscriptionSpec=1.0\r\n\r\n--b\r\n")
      try peer.send("Content-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"b\":1}}}\r\n--b")
      peer.waitForHangUp()
    }
    let gateway = try ServeProcess(folder, endpoint: "\(held.origin)/graphql")
    let idle = try WebSocketClient(initialised: gateway)
    let busy = try WebSocketClient(initialised: gateway)
    busy.subscribe("s", "subscription { b }")
    #expect(busy.message() == next("s", ["b": 1]))
    busy.subscribe("q", "{ a }")
    while try await gateway.status()["operations"]?["running"]?.int != 2 {}
    kill(gateway.processID, SIGTERM)
    #expect(idle.next() == .closed(1001, reason: "the server stops"))
    busy.subscribe("late", "{ __typename }")
    let refusal = busy.message()
    #expect(refusal?["id"] == "late" && refusal?["payload"]?[0]?["extensions"]?["code"] == "SHUTTING_DOWN")
    mayAnswer.signal()
    #expect(busy.message() == next("q", ["a": 1]))
    #expect(busy.message() == complete("q"))
    #expect(busy.next() == .closed(1001, reason: "the server stops"))
    #expect(try await offThePool { gateway.wait() } == 0)
    #expect(!gateway.errors.contains("cut off"))
  }

  @Test("a client that sends nothing is disconnected, and a client that answers pings is not")
  func keepAlive() throws {
    let gateway = try gateway(["--keep-alive", "2s"])
    let silent = try WebSocketClient(initialised: gateway)
    let alive = try WebSocketClient(initialised: gateway)
    #expect(alive.next() == .ping)
    alive.send(WebSocketClient.Opcode.pong, [])
    #expect(silent.next() == .ping)
    #expect(silent.next() == .closed(1001, reason: "no sign of life"))
    #expect(alive.next() == .ping)
  }

  @Test("the metrics count WebSocket connections and operations")
  func metrics() async throws {
    let gateway = try gateway(["--maximum-per-socket", "1"])
    let client = try WebSocketClient(initialised: gateway)
    client.subscribe("1", "subscription { countdown(from: 100000, everyMilliseconds: 1000) }")
    #expect(client.message() != nil)
    client.subscribe("2", "{ __typename }")
    #expect(client.message()?["payload"]?[0]?["extensions"]?["code"] == "TOO_MANY_REQUESTS")
    func metrics() async throws -> String {
      try await ToolRun(
        URL(filePath: "/usr/bin/curl"), ["-sS", "--unix-socket", gateway.socket, "http://x/metrics"]
      ).output
    }
    let during = try await metrics()
    for line in [
      "carabiner_websocket_connections 1", "carabiner_websocket_operations_running 1",
      #"carabiner_websocket_operations_total{outcome="refused"} 1"#,
    ] { #expect(during.contains("\n\(line)\n"), "\(line) is not in \(during)") }
    client.send("garbage")
    #expect(client.closeCode() == 4400)
    client.hangUp()
    var after = try await metrics()
    while !after.contains("\ncarabiner_websocket_operations_running 0\n") { after = try await metrics() }
    for line in [
      "carabiner_websocket_connections_total 1", #"carabiner_websocket_operations_total{outcome="cancelled"} 1"#,
      #"carabiner_websocket_closes_total{code="4400"} 1"#,
    ] { #expect(after.contains("\n\(line)\n"), "\(line) is not in \(after)") }
  }

  @Test("it works with our client and with an independent one")
  func realClients() async throws {
    let gateway = try gateway()
    let own = try await CommandRun(
      ["run", "--output", "jsonl", "--websocket", "ws://127.0.0.1:\(gateway.port)/graphql", "-"],
      input: "subscription { countdown(from: 2, everyMilliseconds: 20) }")
    #expect(own.status == 0, "\(own.errors)")
    #expect(own.output == [2, 1, 0].map { "{\"data\":{\"countdown\":\($0)}}\n" }.joined())
    let other = try await ToolRun(
      Repository.python,
      [
        Repository.root.appending(path: "Tests/Peers/websocket_client.py").path, "ws://127.0.0.1:\(gateway.port)/graphql",
        "subscription { countdown(from: 2, everyMilliseconds: 20) }",
      ])
    #expect(
      other.output
        == """
        protocol graphql-transport-ws
        connection_ack
        pong
        next {"data": {"countdown": 2}}
        next {"data": {"countdown": 1}}
        next {"data": {"countdown": 0}}
        complete
        closed 1000

        """, "\(other.errors)")
  }
}
