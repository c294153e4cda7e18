import Foundation
import ScriptedServer
import Synchronization

/// An upstream whose responses all differ: `n` has the number of the request and the user. Names of operations choose other responses.
final class CountingUpstream: Sendable {
  private let server: ScriptedServer

  var endpoint: String { "\(server.origin)/graphql" }
  /// How many requests it has answered.
  var count: Int { server.requests.count }

  init() throws {
    let counter = Counter()
    server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let number = counter.next()
        let text = String(decoding: request.body, as: UTF8.self)
        let user = request.header("x-user") ?? request.header("authorization") ?? "nobody"
        var (status, headers, body) = ("200 OK", "", #"{"data":{"n":"\#(number) \#(user)"}}"#)
        if text.contains("query Failing") { body = #"{"data":null,"errors":[{"message":"no"}]}"# }
        if text.contains("query Partly") { body = #"{"data":{"n":"\#(number)"},"errors":[{"message":"no"}]}"# }
        if text.contains("query Empty") { body = #"{"data":null}"# }
        if text.contains("query Large") { body = #"{"data":{"n":"\#(number) \#(String(repeating: "x", count: 5000))"}}"# }
        if text.contains("query Refused") { status = "500 No" }
        if text.contains("query Secret") { headers = "Cache-Control: no-store\r\n" }
        if text.contains("query Own") { headers = "Cache-Control: private, max-age=60\r\n" }
        if text.contains("query Cookie") { headers = "Set-Cookie: a=b\r\n" }
        if text.contains("query Aged") { headers = "Cache-Control: max-age=7000\r\nCache-Control: S-MaxAge=5000\r\n" }
        try peer.respond(status, headers: "Content-Type: application/json\r\n" + headers, body: body)
      })
  }
}

/// Numbers from 1.
private final class Counter: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
