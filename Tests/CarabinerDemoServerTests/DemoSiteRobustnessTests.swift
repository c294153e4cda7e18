import CarabinerWire
import Testing

@testable import CarabinerDemoServer

/// Malformed requests, which are answered with a status and never with a crash.
@Suite("Demo server: robustness")
struct DemoSiteRobustnessTests {
  private static let documents = [
    "query Q($a: [ID!]! = [1], $f: BookFilter, $b: Boolean = true) { booksByID(ids: $a) { ...F @defer(if: $b, label: \"l\") } books(filter: $f, first: 2) { id } } fragment F on Book { id author { name books { id } } review(afterMilliseconds: 0) }",
    "mutation { renameBook(id: 1, title: \"\\u{1F600}\") { title @skip(if: false) } returnBook(id: 9) { id } }",
    "subscription S { n: countdown(from: 2, everyMilliseconds: 1, failAt: -3) }",
    "{ search(text: \"\"\"e\"\"\") { __typename ... on Book { a: title } ... on Author { a: name ... on Node { id } } } shelf { label } }",
  ]

  private static func body(_ document: String) -> [UInt8] {
    let variables: JSONValue = ["a": ["1", 2], "f": ["genre": "NOVEL", "since": 1900], "b": true]
    return JSONValue.object(["query": .string(document), "variables": variables]).serialized()
  }

  /// The statuses of all requests. Each response is read to its end.
  private func statuses(_ bodies: some Sequence<[UInt8]>, accept: String) async -> Set<Int> {
    let site = DemoSite(settings: DemoSite.Settings(), pause: { _ in })
    var statuses: Set<Int> = []
    for body in bodies {
      let reply = await site.reply(
        to: DemoRequest(
          method: "POST", target: "/graphql", headers: ["content-type": "application/json", "accept": accept], body: body))
      if case .streamed(let parts) = reply.body {
        var count = 0
        for await _ in parts { count += 1 }
        // Opening, at least one part, closing. A changed digit may have made a countdown long.
        #expect(count >= 3)
      }
      statuses.insert(reply.status)
    }
    return statuses
  }

  @Test("no prefix of a request crashes", arguments: documents)
  func prefixes(document: String) async {
    let whole = Self.body(document)
    let accept = "multipart/mixed;deferSpec=20220824, multipart/mixed;subscriptionSpec=1.0, application/graphql-response+json"
    #expect(await statuses((0..<whole.count).map { Array(whole.prefix($0)) }, accept: accept) == [400])
    let cut = document.indices.map { Self.body(String(document[..<$0])) }
    #expect(await statuses(cut, accept: accept).isSubset(of: [200, 400]))
  }

  @Test("no changed, doubled or missing byte crashes", arguments: documents)
  func changes(document: String) async {
    var generator = Xorshift(state: 0x9E37_79B9_7F4A_7C15)
    let whole = Self.body(document)
    let interesting = Array("{}()[]:$!@.\"\\,0159eE-+ _aQ\u{0}\u{7F}".utf8) + [0x80, 0xC3, 0xFF]
    let bodies = (0..<3000).map { _ in
      var body = whole
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let position = Int.random(in: 0..<body.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: body.remove(at: position)
        case 1: body.insert(body[position], at: position)
        case 2: body[position] = interesting.randomElement(using: &generator) ?? 0
        default: body.insert(interesting.randomElement(using: &generator) ?? 0, at: position)
        }
      }
      return body
    }
    for accept in ["application/cbor, multipart/mixed;deferSpec=20220824, multipart/mixed;subscriptionSpec=1.0", "*/*"] {
      #expect(await statuses(bodies, accept: accept).isSubset(of: [200, 400, 406]))
    }
  }

  @Test(
    "no header crashes",
    arguments: [
      "", ";", "/", "//", "a/b;", "a/b;;=", "a/b;q", "a/b;q=;x=\"", "\"", "\\\"", "*/*;q=1e999", ",,,,", "a/b;q=\"0.5\"", "\u{0}",
      "🙂/🙂",
    ])
  func headers(value: String) async {
    let site = DemoSite(settings: DemoSite.Settings())
    for name in ["accept", "content-type", "authorization"] {
      let headers = ["content-type": "application/json"].merging([name: value]) { $1 }
      let reply = await site.reply(
        to: DemoRequest(method: "POST", target: "/graphql", headers: headers, body: Self.body("{ failing }")))
      #expect([200, 406, 415].contains(reply.status))
    }
    let strange = await site.reply(to: DemoRequest(method: value, target: value, headers: [:], body: []))
    #expect(strange.status == 404)
  }
}

/// Random numbers that are the same in every run.
private struct Xorshift: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
