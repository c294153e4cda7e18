import CarabinerWire
import Testing

@testable import CarabinerDemoServer

/// Responses in parts.
@Suite("Demo server: parts")
struct DeferTests {
  private func parts(_ document: String, _ variables: JSONObject = [:]) async throws -> [String] {
    let plan = try RequestPlan(document: document, operationName: nil, variables: variables)
    let context = RequestContext(pause: { _ in })
    var executor = Executor(library: Library(), context: context, defers: true)
    var source = DeferredParts(await executor.result(of: plan, on: .query), executor)
    var parts: [String] = []
    while let part = await source.next() { parts.append(part.description) }
    return parts
  }

  @Test("a deferred fragment is returned later, with path and label")
  func fragment() async throws {
    #expect(
      try await parts("{ book(id: 2) { id ...R @defer(label: \"r\") } } fragment R on Book { author { name } }") == [
        #"{"data":{"book":{"id":"2"}},"hasNext":true}"#,
        #"{"incremental":[{"data":{"author":{"name":"Stanisław Lem"}},"path":["book"],"label":"r"}],"hasNext":false}"#,
      ])
  }

  @Test("deferred fragments in lists and in deferred parts are returned in order, and the last part has hasNext: false")
  func nested() async throws {
    #expect(
      try await parts("{ books(first: 2) { ... @defer { id author { ... @defer { born } } } } }") == [
        #"{"data":{"books":[{},{}]},"hasNext":true}"#,
        #"{"incremental":[{"data":{"id":"1","author":{}},"path":["books",0]}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"id":"2","author":{}},"path":["books",1]}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"born":1929},"path":["books",0,"author"]}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"born":1921},"path":["books",1,"author"]}],"hasNext":false}"#,
      ])
  }

  @Test("a deferred part has its own errors, and null does not propagate beyond it")
  func errors() async throws {
    #expect(
      try await parts("{ shelf { room ... @defer { label } } ... @defer(if: true) { failing } }") == [
        #"{"data":{"shelf":{"room":"reading room"}},"hasNext":true}"#,
        #"{"incremental":[{"data":null,"path":["shelf"],"errors":[{"message":"the label has fallen off","locations":[{"line":1,"column":29}],"path":["shelf","label"],"extensions":{"code":"NO_LABEL"}}]}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"failing":null},"path":[],"errors":[{"message":"this field always fails","locations":[{"line":1,"column":62}],"path":["failing"],"extensions":{"code":"BROKEN"}}]}],"hasNext":false}"#,
      ])
  }

  @Test("deferred fragments of a null object are dropped, and if: false defers nothing")
  func dropped() async throws {
    #expect(try await parts("{ shelf { label ... @defer { room } } }").count == 1)
    let off = "query ($d: Boolean!) { book(id: 1) { ... @defer(if: $d) { id } } }"
    #expect(try await parts(off, ["d": false]) == [#"{"data":{"book":{"id":"1"}},"hasNext":false}"#])
  }

  @Test("parts are delimited as RFC 2046 requires")
  func bytes() async throws {
    let writer = MultipartWriter(specification: "deferSpec=20220824")
    let plan = try RequestPlan(document: "{ ... @defer { __typename } }", operationName: nil, variables: [:])
    var executor = Executor(library: Library(), context: RequestContext(), defers: true)
    let first = await executor.result(of: plan, on: .query)
    var bytes: [UInt8] = []
    for await piece in MultipartBody(writer: writer, source: DeferredParts(first, executor)) { bytes += piece }
    #expect(writer.contentType == #"multipart/mixed;boundary="carabiner";deferSpec=20220824"#)
    let head = "Content-Type: application/json; charset=utf-8\r\n\r\n"
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
        --carabiner\r\n\(head){"data":{},"hasNext":true}\r\n--carabiner\r\n\(head)\
        {"incremental":[{"data":{"__typename":"Query"},"path":[]}],"hasNext":false}\r\n--carabiner--\r\n
        """)
  }

  @Test("a countdown sends heartbeats between its numbers, and may fail")
  func schedule() {
    let quiet = CountdownSchedule(from: 1, every: .milliseconds(100), failAt: nil, heartbeat: .milliseconds(100))
    #expect(quiet.map(\.event) == [.number(1), .number(0)])
    let loud = CountdownSchedule(from: 0, every: .milliseconds(100), failAt: nil, heartbeat: .milliseconds(40))
    #expect(loud.map(\.event) == [.heartbeat, .heartbeat, .number(0)])
    #expect(loud.map(\.pause) == [.milliseconds(40), .milliseconds(40), .milliseconds(20)])
    let broken = CountdownSchedule(from: 3, every: .milliseconds(1), failAt: 2, heartbeat: .seconds(1))
    #expect(broken.map(\.event) == [.number(3), .failure])
  }
}
