import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Delegates and the requests that they see and change", .timeLimit(.minutes(2)))
struct PreflightTests {
  @Test(
    "shouldSend sees the finished request and can stop it; no server and no other method hears of it",
    .rule("delegate.2", "delegate.3"))
  func stopped() async throws {
    let seen = Log()
    let recorder = Recorder()
    recorder.shouldSend = { request in
      seen.note(request.httpMethod)
      seen.note(request.url.path)
      seen.note(request.allHTTPHeaderFields?["X-APOLLO-OPERATION-NAME"] ?? "no name")
      seen.note(request.allHTTPHeaderFields?["apollographql-client-name"] ?? "no client")
      seen.note(
        String(bytes: request.httpBody ?? Data(), encoding: .utf8)?.contains("query Hero") == true ? "document" : "no document")
      return false
    }
    let service = try DelegateService(recorder)
    #expect(await service.fetch().first?.contains("delegate of the transport refused the request") == true)
    await service.settle()
    #expect(seen.entries == ["POST", "/graphql", "Hero", HTTPNetworkTransport.defaultClientName, "document"])
    #expect(recorder.log.entries == ["shouldSend", "result"])
    #expect(service.server.connections == 0)
  }

  @Test("the error of a stopped request is cancelledByDelegate", .rule("delegate.3"))
  func stoppedError() async throws {
    let recorder = Recorder()
    recorder.shouldSend = { _ in false }
    let service = try DelegateService(recorder)
    let results = service.fetching()
    #expect(await eventually { results.all.count == 1 })
    #expect(throws: GraphQLHTTPRequestError.cancelledByDelegate) { try results.all[0].get() }
  }

  @Test("willSend adds a token that the server sees, and the raw completion gets the request as it was sent", .rule("delegate.4"))
  func token() async throws {
    let recorder = Recorder()
    recorder.willSend = { request in
      var headers = request.allHTTPHeaderFields ?? [String: String]()
      headers["Authorization"] = "Bearer one"
      request.allHTTPHeaderFields = headers
    }
    let reported = Log()
    recorder.completed = { request, _, _, _ in reported.note(request.value(forHTTPHeaderField: "authorization") ?? "none") }
    let service = try DelegateService(recorder)
    #expect(await service.fetch() == ["server R2"])
    let request = try #require(service.server.requests.first)
    #expect(request.header("Authorization") == "Bearer one" && request.header("Content-Type") == "application/json")
    #expect(reported.entries == ["Bearer one"])
  }

  @Test("willSend may send the request elsewhere, with another method and body", .rule("delegate.4"))
  func elsewhere() async throws {
    let other = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let recorder = Recorder()
    let url = try #require(URL(string: other.origin + "/other"))
    recorder.willSend = { request in
      request.url = url
      request.httpMethod = "PUT"
      request.httpBody = Data("mine".utf8)
    }
    let service = try DelegateService(recorder)
    #expect(await service.fetch() == ["server R2"])
    let request = try #require(other.requests.first)
    #expect(request.method == "PUT" && request.target == "/other" && request.body == Array("mine".utf8))
    #expect(service.server.connections == 0)
  }

  @Test("each method is called once for an attempt, in order: a success, a 401", .rule("delegate.1", "delegate.6"))
  func order() async throws {
    let good = try DelegateService()
    #expect(await good.fetch() == ["server R2"])
    #expect(good.recorder.log.entries == ["shouldSend", "willSend", "raw 200 \(heroJSON.utf8.count)", "result"])
    let bad = try DelegateService(answers: [("401 Unauthorized", "no")])
    #expect(await bad.fetch() == ["Received error response (401 Unauthorized): no"])
    #expect(bad.recorder.log.entries == ["shouldSend", "willSend", "raw 401 2", "retry?", "result"])
  }

  @Test("a refused connection has no head, no body and an error", .rule("delegate.6"))
  func refused() async throws {
    let recorder = Recorder()
    let errors = Log()
    recorder.completed = { _, _, _, error in errors.note("\((error as? TransportError)?.code.rawValue ?? "none")") }
    recorder.retry = { error, _, response, answer in
      errors.note("\((error as? TransportError)?.code.rawValue ?? "none") \(response == nil)")
      answer(false)
    }
    let service = try DelegateService(recorder, isOpen: false)
    #expect(await service.fetch().first?.contains("cannotConnect") == true)
    #expect(recorder.log.entries == ["shouldSend", "willSend", "raw no head no body", "retry?", "result"])
    #expect(errors.entries == ["cannotConnect", "cannotConnect true"])
  }

  @Test("the raw completion gets the whole body of a 500 before the caller, and empty data of an empty 200", .rule("delegate.6"))
  func rawBodies() async throws {
    let page = String(repeating: "x", count: 100_000)
    let failing = try DelegateService(answers: [("500 Fault", page)])
    let results = failing.fetching()
    #expect(await eventually { results.all.count == 1 })
    #expect(failing.recorder.log.entries == ["shouldSend", "willSend", "raw 500 100000", "retry?", "result"])
    let error = #expect(throws: GraphQLHTTPResponseError.self) { try results.all[0].get() }
    #expect(error?.kind == .errorResponse && error?.body?.count == 100_000 && error?.response.statusCode == 500)
    let empty = try DelegateService(answers: [("200 OK", "")])
    #expect(await empty.fetch() == ["Received invalid response (200 OK): [Empty response body]"])
    #expect(empty.recorder.log.entries == ["shouldSend", "willSend", "raw 200 0", "retry?", "result"])
  }

  @Test("the head of the raw completion is the last one after redirects", .rule("delegate.6"))
  func redirected() async throws {
    let recorder = Recorder()
    let heads = Log()
    recorder.completed = { _, _, response, _ in heads.note(response?.url.path ?? "none") }
    let service = try DelegateService(recorder) { request, peer in
      guard request.target == "/graphql" else { return try peer.json(heroJSON) }
      try peer.respond("307 Temporary Redirect", headers: "Location: /new\r\n")
    }
    #expect(await service.fetch() == ["server R2"])
    #expect(heads.entries == ["/new"] && recorder.log.entries.count == 4)
  }

  @Test(
    "a body that is not a GraphQL response is an invalidResponse, and the retry delegate is asked", .rule("delegate.7"),
    arguments: ["null", "[]", "\"x\"", "{", "<html>", "{}"])
  func unparsable(_ body: String) async throws {
    let recorder = Recorder()
    let statuses = Log()
    recorder.retry = { error, _, response, answer in
      statuses.note("\(response?.statusCode ?? 0) \((error as? GraphQLHTTPResponseError)?.kind == .invalidResponse)")
      answer(false)
    }
    let service = try DelegateService(recorder, answers: [("200 OK", body)])
    #expect(await service.fetch() == ["Received invalid response (200 OK): \(body)"])
    #expect(statuses.entries == ["200 true"])
  }

  @Test("a header field that willSend made invalid is an error of sending", .rule("delegate.5"))
  func invalidHeader() async throws {
    let recorder = Recorder()
    recorder.willSend = { $0.setValue("a\r\nb: c", forHTTPHeaderField: "X-A") }
    let service = try DelegateService(recorder)
    #expect(await service.fetch().first?.contains("invalidHeader") == true)
    #expect(recorder.log.entries.contains("retry?") && service.server.requests.isEmpty)
  }

  @Test(
    "a delegate with some of the methods is asked only about those, and one that is set later counts from then on",
    .rule("delegate.25"))
  func half() async throws {
    let service = try DelegateService(make: { url, _ in HTTPNetworkTransport(url: url) })
    #expect(await service.fetch() == ["server R2"])
    let half = HalfDelegate()
    service.transport.delegate = half
    #expect(await service.fetch() == ["server R2"])
    #expect(half.log.entries == ["raw"])
    service.transport.delegate = nil
    #expect(await service.fetch() == ["server R2"])
    #expect(half.log.entries == ["raw"])
  }

  @Test("the transport keeps its delegate until it is set to nil", .rule("delegate.15"))
  func strong() throws {
    let transport = HTTPNetworkTransport(url: URL(filePath: "/"))
    weak var delegate: HalfDelegate?
    do {
      let made = HalfDelegate()
      delegate = made
      transport.delegate = made
    }
    #expect(delegate != nil)
    transport.delegate = nil
    #expect(delegate == nil)
  }

  @Test("a request completes although client and transport are released meanwhile", .rule("delegate.15"))
  func released() async throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        gate.wait()
        try peer.json(heroJSON)
      })
    let results = Results<HeroQuery.Data>()
    weak var transport: HTTPNetworkTransport?
    do {
      let made = HTTPNetworkTransport(url: try #require(URL(string: server.origin)), delegate: Recorder())
      transport = made
      ApolloClient(networkTransport: made).fetch(query: HeroQuery(), queue: .global()) { results.add($0) }
    }
    #expect(await eventually { server.requests.count == 1 })
    gate.signal()
    #expect(await eventually { results.outcomes == ["server R2"] })
    #expect(await eventually { transport == nil })
  }

  @Test("an errorDescription has the messages of errors in the body, or else status and body", .rule("delegate.22"))
  func descriptions() throws {
    let head = HTTPURLResponse(url: try #require(URL(string: "http://a.test")), statusCode: 404)
    func text(_ body: Data?) -> String? {
      GraphQLHTTPResponseError(body: body, response: head, kind: .errorResponse).errorDescription
    }
    #expect(
      text(Data(#"{"errors":[{"message":"one"},{"message":"two"}]}"#.utf8)) == "Received error response: one\ntwo")
    #expect(text(Data("gone".utf8)) == "Received error response (404 Not Found): gone")
    #expect(text(nil) == "Received error response (404 Not Found): [Empty response body]")
    #expect(text(Data([0xff, 0xfe])) == "Received error response (404 Not Found): [Unreadable response body]")
    #expect((head as Any) is URLResponse)
  }

  @Test("transports are equal if URL, session, identifiers and GET are")
  func equality() throws {
    let url = try #require(URL(string: "http://a.test"))
    #expect(HTTPNetworkTransport(url: url) == HTTPNetworkTransport(url: url, delegate: Recorder()))
    #expect(HTTPNetworkTransport(url: url) != HTTPNetworkTransport(url: url, useGETForQueries: true))
    #expect(HTTPNetworkTransport(url: url) != HTTPNetworkTransport(url: url, session: URLSession(configuration: .default)))
  }
}

/// A delegate that sees only what was received.
private final class HalfDelegate: HTTPNetworkTransportTaskCompletedDelegate {
  let log = Log()

  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, didCompleteRawTaskForRequest request: URLRequest, withData data: Data?,
    response: URLResponse?, error: (any Error)?
  ) { log.note("raw") }
}
