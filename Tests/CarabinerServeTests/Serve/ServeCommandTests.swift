import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The gateway as a process in front of the demo server.
@Suite("carabiner serve")
struct ServeCommandTests {
  private func gateway(
    _ upstream: DemoServerProcess, manifest: String = "carabiner: 1\n", _ arguments: [String] = []
  ) throws -> ServeProcess {
    let folder = try StoreFolder()
    _ = try folder.write(manifest, to: "chain.yaml")
    return try ServeProcess(folder, endpoint: upstream.endpoint, arguments)
  }

  @Test("a query goes through the chain, and comes back as the client wants it labelled")
  func query() throws {
    let upstream = try DemoServerProcess()
    let gateway = try gateway(upstream)
    let plain = try gateway.query("{ __typename }")
    #expect(plain.status == 200)
    #expect(plain.text == #"{"data":{"__typename":"Query"}}"#)
    #expect(plain.head.contains("Content-Type: application/json; charset=utf-8"))
    let newer = try gateway.query("{ __typename }", headers: ["Accept: application/graphql-response+json"])
    #expect(newer.head.contains("Content-Type: application/graphql-response+json; charset=utf-8"))
  }

  @Test(
    "a request without a valid operation is refused with its status",
    arguments: [
      ("POST", "/graphql", ["Content-Type: text/plain"], "x", 415, "UNSUPPORTED_MEDIA_TYPE"),
      ("POST", "/graphql", [], "{", 400, "BAD_REQUEST"),
      ("POST", "/graphql", [], #"{"query":"{ a "}"#, 200, "GRAPHQL_PARSE_FAILED"),
      ("POST", "/graphql", [], #"{"query":"query A { a } query B { b }"}"#, 200, "OPERATION_RESOLUTION_FAILURE"),
      ("POST", "/graphql", [], #"{"query":"{ a }","operationName":"B"}"#, 200, "OPERATION_RESOLUTION_FAILURE"),
      ("POST", "/graphql", [], #"[{"query":"{ a }"}]"#, 400, "BATCHING_NOT_SUPPORTED"),
      ("POST", "/graphql", [], "{\"query\":\"\u{FFFD}", 400, "BAD_REQUEST"),
      ("POST", "/graphql", [], "{\"query\":" + String(repeating: "[", count: 5000), 400, "BAD_REQUEST"),
      ("POST", "/graphql", ["Accept: text/html"], #"{"query":"{ a }"}"#, 406, "NOT_ACCEPTABLE"),
      ("POST", "/graphql", [], #"{"query":"subscription { countdown }"}"#, 406, "NOT_ACCEPTABLE"),
      ("PUT", "/graphql", [], #"{"query":"{ a }"}"#, 405, "METHOD_NOT_ALLOWED"),
      ("GET", "/graphql?query=%7Ba%7D", [], nil, 400, "CSRF"),
      ("GET", "/graphql?query=mutation%7Ba%7D", ["Apollo-Require-Preflight: true"], nil, 405, "METHOD_NOT_ALLOWED"),
      ("POST", "/elsewhere", [], "{}", 404, "NOT_FOUND"),
      ("POST", "/graphqlx", [], "{}", 404, "NOT_FOUND"),
    ] as [(String, String, [String], String?, Int, String)])
  func refusals(_ method: String, _ target: String, _ headers: [String], _ body: String?, _ status: Int, _ code: String) throws {
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/graphql")
    let answer = try RawAnswer("\(gateway.origin)\(target)", method: method, body: body, headers: headers)
    #expect(answer.status == status)
    let error = try JSONValue(parsing: answer.text)["errors"]?[0]
    #expect(error?["extensions"]?["code"]?.string == code, "\(answer.text)")
    #expect(error?["message"]?.string?.isEmpty == false)
  }

  @Test("a GET with the header that no page of another site can send is a query")
  func get() throws {
    let upstream = try DemoServerProcess()
    let gateway = try gateway(upstream)
    let answer = try RawAnswer(
      "\(gateway.endpoint)?query=%7B__typename%7D", headers: ["Apollo-Require-Preflight: true"])
    #expect(answer.text == #"{"data":{"__typename":"Query"}}"#)
  }

  @Test("headers are forwarded and returned only if the manifest names them")
  func headers() throws {
    let upstream = try DemoServerProcess()
    let query = #"{ named: echoHeader(name: "x-tenant") other: echoHeader(name: "x-other") }"#
    let sent = ["X-Tenant: t1", "X-Other: o1"]
    let closed = try gateway(upstream).query(query, headers: sent)
    #expect(closed.text == #"{"data":{"named":null,"other":null}}"#)
    // Only the gateway's own field, not also the upstream's.
    #expect(closed.head.count { $0.lowercased().hasPrefix("date:") } == 1)
    let manifest = "carabiner: 1\nserve: {forward-headers: [x-ten*], return-headers: [content-length, x-none]}\n"
    let open = try gateway(upstream, manifest: manifest).query(query, headers: sent)
    #expect(open.text == #"{"data":{"named":"t1","other":null}}"#)
    // Fields that belong to one connection or body are never forwarded, even if the manifest lists them.
    #expect(open.head.filter { $0.lowercased().hasPrefix("content-length:") } == ["Content-Length: \(open.body.count)"])
  }

  @Test("deferred parts are sent incrementally to clients that accept this, and as one result to others")
  func deferred() async throws {
    let upstream = try DemoServerProcess()
    let gateway = try gateway(upstream)
    let query = #"query Q { book(id: 1) { title ... @defer(label: "l") { review } } }"#
    let client = try await CommandRun(["run", "--endpoint", gateway.endpoint, "--output", "jsonl", "-"], input: query)
    #expect(client.status == 0, "\(client.errors)")
    let results = try client.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(results.count == 2)
    #expect(results.first?["data"]?["book"]?["title"] == "The Left Hand of Darkness")
    #expect(results.first?["data"]?["book"]?["review"] == nil)
    #expect(results.last?["data"]?["book"]?["review"]?.string?.contains("worth every page") == true)
    let parts = try gateway.query(query, headers: ["Accept: multipart/mixed;deferSpec=20220824, application/json"])
    #expect(parts.text.contains(#""path":["book"]"#) && parts.text.contains(#""label":"l""#), "\(parts.text)")
    let whole = try JSONValue(parsing: try gateway.query(query).text)
    #expect(whole["data"]?["book"]?["review"]?.string?.contains("worth every page") == true)
    #expect(whole["hasNext"] == nil)
  }

  @Test(
    "a subscription's results come as events or as parts, and its errors last",
    arguments: ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0, application/json"])
  func subscription(_ accept: String) throws {
    let upstream = try DemoServerProcess()
    let gateway = try gateway(upstream)
    let good = try gateway.query("subscription { countdown(from: 2, everyMilliseconds: 20) }", headers: ["Accept: \(accept)"])
    #expect(good.text.matches(of: /"countdown":(\d)/).map { String($0.1) } == ["2", "1", "0"])
    #expect(good.curlStatus == 0)
    let bad = try gateway.query(
      "subscription { countdown(from: 2, everyMilliseconds: 20, failAt: 1) }", headers: ["Accept: \(accept)"])
    #expect(bad.text.matches(of: /"countdown":(\d)/).map { String($0.1) } == ["2"])
    #expect(bad.text.contains("the countdown broke off"), "\(bad.text)")
  }

  @Test("lists of operations are accepted where they are allowed, up to their limit")
  func batches() throws {
    let upstream = try DemoServerProcess()
    let gateway = try gateway(upstream, ["--maximum-batch", "2"])
    let two = try RawAnswer(gateway.endpoint, body: #"[{"query":"{ __typename }"},{"query":"{ failing }"}]"#)
    let results = try JSONValue(parsing: two.text).array
    #expect(results?.count == 2)
    #expect(results?[0]["data"]?["__typename"] == "Query")
    #expect(results?[1]["errors"]?.array?.count == 1)
    let three = try RawAnswer(
      gateway.endpoint, body: "[\(Array(repeating: #"{"query":"{ a }"}"#, count: 3).joined(separator: ","))]")
    #expect(three.status == 400)
  }

  @Test(
    "an upstream error has a status and a code, and reveals nothing about the upstream",
    arguments: [
      ("503 Service Unavailable", "Retry-After: 7\r\n", "", 503, "UPSTREAM_UNAVAILABLE"),
      ("500 Internal Server Error", "", "secret stack trace", 502, "UPSTREAM_STATUS"),
      ("401 Unauthorized", "", "", 401, "UNAUTHENTICATED"),
      ("400 Bad Request", "Content-Type: application/json\r\n", #"{"errors":["secret"]}"#, 502, "UPSTREAM_STATUS"),
      ("400 Bad Request", "Content-Type: text/plain\r\n", #"{"errors":[{"message":"secret"}]}"#, 502, "UPSTREAM_STATUS"),
      ("200 OK", "Content-Type: application/json\r\n", "garbage", 502, "BAD_UPSTREAM_RESPONSE"),
      ("200 OK", "Content-Type: application/json\r\n", "{\"no\":1}", 502, "BAD_UPSTREAM_RESPONSE"),
    ])
  func upstreamFailures(_ status: String, _ headers: String, _ body: String, _ expected: Int, _ code: String) throws {
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(status, headers: headers, body: body) })
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nbuilt-ins: {max-retry: {maximum-retries: 0}}\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql")
    let answer = try gateway.query("{ a }")
    #expect(answer.status == expected)
    #expect(try JSONValue(parsing: answer.text)["errors"]?[0]?["extensions"]?["code"]?.string == code)
    #expect(!answer.text.contains("secret") && !answer.text.contains(upstream.origin))
    if expected == 503 { #expect(answer.head.contains("Retry-After: 7")) }
  }

  @Test("an upstream's GraphQL errors with the status 400 reach the client, and data beside them", arguments: ["400", "422"])
  func upstreamErrors(_ status: String) throws {
    let body = #"{"data":{"a":null},"errors":[{"message":"\#(String(repeating: "long", count: 4000))","path":["a"]}]}"#
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond("\(status) Refused", headers: "Content-Type: application/json; charset=utf-8\r\n", body: body)
      })
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql")
    let answer = try gateway.query("{ a }")
    #expect(answer.status == 200 && answer.text == body, "\(answer.status) \(answer.text.prefix(200))")
    #expect(upstream.requests.count == 1)
  }

  @Test("a connection-specific field of the upstream is not forwarded, whatever the manifest says")
  func malformedField() throws {
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(
          headers: "Content-Type: application/json\r\nX-Good: a\r\nX-Bad: a\u{1}b\r\n", body: #"{"data":{"a":1}}"#)
      })
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nserve: {return-headers: [x-*]}\n", to: "chain.yaml")
    let answer = try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql").query("{ a }")
    #expect(answer.text == #"{"data":{"a":1}}"#)
    let own = ["X-Request-Id: ", "X-Content-Type-Options: "]
    #expect(answer.head.filter { field in field.hasPrefix("X-") && !own.contains { field.hasPrefix($0) } } == ["X-Good: a"])
  }

  @Test("an unreachable upstream and one that does not answer have different errors")
  func unreachable() throws {
    let folder = try StoreFolder()
    let retries = "carabiner: 1\nbuilt-ins: {max-retry: {maximum-retries: 0}}\n"
    _ = try folder.write(retries, to: "chain.yaml")
    let gone = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/graphql")
    #expect(try gone.query("{ a }").status == 502)
    let silent = try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
    _ = try folder.write(retries + "settings: {timeout: 300ms}\n", to: "chain.yaml")
    let slow = try ServeProcess(folder, endpoint: "\(silent.origin)/graphql")
    #expect(try slow.query("{ a }").status == 504)
  }

  @Test("TLS clients are served, and a client without TLS does not affect others")
  func tls() async throws {
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let (key, certificate) = (folder.file("key.pem"), folder.file("certificate.pem"))
    let made = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj",
        "/CN=localhost",
      ])
    #expect(made.status == 0, "\(made.errors)")
    let upstream = try DemoServerProcess()
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint, ["--tls-certificate", certificate, "--tls-key", key])
    let plain = try ClientSocket(port: gateway.port)
    plain.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(plain.read().isClosed)
    let answer = try await ToolRun(
      URL(filePath: "/usr/bin/curl"),
      [
        "-sS", "--cacert", certificate, "--resolve", "localhost:\(gateway.port):127.0.0.1", "-H",
        "Content-Type: application/json",
        "-d", #"{"query":"{ __typename }"}"#, "https://localhost:\(gateway.port)/graphql",
      ])
    #expect(answer.output == #"{"data":{"__typename":"Query"}}"#, "\(answer.errors)")
    let wrong = try await CommandRun(
      [
        "serve", "-m", folder.file("chain.yaml"), "--endpoint", upstream.endpoint, "--listen", "127.0.0.1:0", "--tls-certificate",
        key,
        "--tls-key", key,
      ])
    #expect(wrong.status == 2 && wrong.errors.contains("PEM"), "\(wrong.errors)")
  }

  @Test("requests that are not finished within the drain time are cut off, and the log says so")
  func cutOff() async throws {
    let upstream = try HeldUpstream()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nsettings: {timeout: 10m}\n", to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint, ["--drain", "200ms", "--log-format", "json"],
      environment: ["CARABINER_LOG": "critical"])
    let request = try RawRequest(gateway.endpoint, body: HeldUpstream.slow)
    try await upstream.waitUntilHeld(1)
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    #expect(request.answer().status == 0)
    // There is one line, at every log level, and it is JSON like the others.
    let lines = gateway.errors.split(separator: "\n").map { (try? JSONValue(parsing: String($0))) ?? .string(String($0)) }
      .filter { $0["message"]?.string?.hasPrefix("end, step ") != true }
    #expect(lines.count == 1 && lines.first?["message"]?.string?.contains("requests are cut off") == true, "\(gateway.errors)")
    #expect(lines.first?["level"] == "notice" && lines.first?["connections"] == "1" && lines.first?["operations"] == "1")
  }

  @Test("an address that is in use, a manifest that is refused, and an endpoint that is missing end it before it begins")
  func refusedStart() async throws {
    let folder = try StoreFolder()
    let manifest = try folder.write("carabiner: 1\nendpoint: http://127.0.0.1:9/\n", to: "chain.yaml")
    let taken = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/")
    let second = try await CommandRun(["serve", "-m", manifest, "--listen", "127.0.0.1:\(taken.port)"])
    #expect(second.status == 4)
    #expect(second.errors.contains("--listen"))
    let broken = try folder.write("carabiner: 1\nplugin: []\n", to: "broken.yaml")
    #expect(try await CommandRun(["serve", "-m", broken, "--listen", "127.0.0.1:0"]).status == 3)
    let bare = try folder.write("carabiner: 1\n", to: "bare.yaml")
    #expect(try await CommandRun(["serve", "-m", bare, "--listen", "127.0.0.1:0"]).status == 2)
    #expect(try await CommandRun(["serve", "-m", manifest, "--listen", "nowhere"]).status == 2)
  }
}
