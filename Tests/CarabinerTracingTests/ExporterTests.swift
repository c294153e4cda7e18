import Carabiner
import CarabinerCurl
import FoundationEssentials
import ScriptedServer
import Synchronization
import TestTools
import Testing
import Tracing

@testable import CarabinerTracing

/// Spans that are exported to a collector with scripted responses.
@Suite("OTLP exporter")
struct ExporterTests {
  private static func settings(_ server: ScriptedServer) throws -> OTLPSettings {
    var settings = OTLPSettings(endpoint: try #require(URL(string: "\(server.origin)/v1/traces")))
    settings.pause = .milliseconds(1)
    // Only full batches are sent before the end.
    settings.interval = .seconds(600)
    settings.maximumBatch = 1
    return settings
  }

  private static func exporter(
    _ settings: OTLPSettings, note: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> (OTLPExporter, OTLPTracer) {
    let exporter = OTLPExporter(settings, version: "1", transport: try CurlTransport(), note: note)
    return (exporter, OTLPTracer(sampler: TraceSampler(share: 1), exporter: exporter))
  }

  @Test("spans of any kind arrive as they were")
  func values() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.respond(body: "{}") })
    var settings = try Self.settings(server)
    settings.maximumAttributeBytes = 11
    settings.resource = [("service.name", "tests"), ("team", "a")]
    let (exporter, tracer) = try Self.exporter(settings)
    exporter.start()
    let first = tracer.startSpan("first", context: .topLevel, ofKind: .producer)
    first.end()
    let span = tracer.startSpan("second", context: first.context, ofKind: .consumer)
    span.updateAttributes {
      $0["integer"] = 1 << 62
      $0["double"] = 0.5
      $0["endless"] = Double.infinity
      $0["none"] = Double.nan
      $0["flag"] = true
      $0["text"] = "ä\u{0}\"\\\n"
      $0["long"] = "0123456789ä1"
      $0.set("list", value: .stringArray(["a", "b"]))
      $0.set("numbers", value: .int64Array([1, 2]))
    }
    span.addEvent(SpanEvent(name: "event", attributes: ["at": .int64(1)]))
    struct Failure: Error {}
    span.recordError(Failure())
    span.addLink(SpanLink(context: first.context, attributes: [:]))
    span.setStatus(SpanStatus(code: .error, message: "why"))
    span.operationName = "renamed"
    span.end()
    span.operationName = "too late"
    span.end()
    await exporter.shutDown(within: .seconds(60))
    #expect(exporter.counts == OTLPExporter.Counts(exported: 2))
    let spans = try await CollectedSpan.read(server.requests.map(\.body))
    #expect(spans.count == 2)
    let second = try #require(spans.first { $0.name == "renamed" })
    #expect(second.parent == spans.first { $0.name == "first" }?.id && second.links == [second.parent])
    #expect(second.kind == "SPAN_KIND_CONSUMER" && spans.contains { $0.kind == "SPAN_KIND_PRODUCER" })
    #expect(second.status == "STATUS_CODE_ERROR" && second.message == "why")
    let expected: [String: CollectedSpan.Value] = [
      "integer": "4611686018427387904", "double": "0.5", "endless": "inf", "none": "nan", "flag": "True",
      "text": "ä\u{0}\"\\\n", "long": "0123456789", "list": .list(["a", "b"]), "numbers": .list(["1", "2"]),
    ]
    #expect(second.attributes == expected)
    #expect(second.events.map(\.name) == ["event", "exception"])
    #expect(second.events.last?.attributes["exception.type"] == "Failure")
    #expect(second.resource == ["service.name": "tests", "team": "a"])
  }

  @Test("a collector that is overloaded is asked again, with pauses and not for ever")
  func retries() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond("503 Service Unavailable", headers: "Retry-After: 0\r\n") })
    var settings = try Self.settings(server)
    settings.maximumAttempts = 3
    let notes = Mutex<[String]>([])
    let (exporter, tracer) = try Self.exporter(settings) { note in notes.withLock { $0.append(note) } }
    exporter.start()
    tracer.startSpan("lost", context: .topLevel).end()
    while exporter.counts.failed == 0 { await Task.yield() }
    tracer.startSpan("lost too", context: .topLevel).end()
    while exporter.counts.failed == 1 { await Task.yield() }
    #expect(server.requests.count == 6)
    await exporter.shutDown(within: .seconds(60))
    #expect(exporter.counts == OTLPExporter.Counts(failed: 2))
    #expect(notes.withLock(\.self).count == 1, "a continued failure is reported once")
    #expect(notes.withLock { $0.first?.contains("status 503") } == true)
  }

  @Test("a collector that is available again gets the spans that it could not accept before")
  func recovery() async throws {
    let answers = Mutex(0)
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        let number = answers.withLock { number in
          number += 1
          return number
        }
        try number == 1 ? peer.respond("429 Too Many Requests") : peer.respond(body: "{}")
      })
    let (exporter, tracer) = try Self.exporter(try Self.settings(server))
    exporter.start()
    tracer.startSpan("late", context: .topLevel).end()
    while exporter.counts.exported == 0 { await Task.yield() }
    #expect(server.requests.count == 2 && server.requests[0].body == server.requests[1].body)
    await exporter.shutDown(within: .seconds(60))
  }

  @Test(
    "spans that a collector rejects are counted, and not sent again",
    arguments: [
      ("400 Bad Request", "", 1), ("200 OK", #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#, 1),
      ("200 OK", #"{"partialSuccess":{}}"#, 0), ("200 OK", "garbage", 0),
    ])
  func refusals(_ status: String, _ body: String, _ failed: Int) async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.respond(status, body: body) })
    let (exporter, tracer) = try Self.exporter(try Self.settings(server))
    exporter.start()
    tracer.startSpan("span", context: .topLevel).end()
    await exporter.shutDown(within: .seconds(60))
    #expect(exporter.counts == OTLPExporter.Counts(exported: 1 - failed, failed: failed))
    #expect(server.requests.count == 1)
  }

  @Test("the queue has a limit, and adding to it never waits")
  func bounded() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.respond(body: "{}") })
    var settings = try Self.settings(server)
    settings.maximumQueue = 10
    settings.maximumBatch = 4
    let (exporter, tracer) = try Self.exporter(settings)
    for number in 0..<25 { tracer.startSpan("\(number)", context: .topLevel).end() }
    #expect(exporter.counts == OTLPExporter.Counts(dropped: 15, waiting: 10))
    exporter.start()
    await exporter.shutDown(within: .seconds(60))
    #expect(exporter.counts == OTLPExporter.Counts(exported: 10, dropped: 15))
    let spans = try await CollectedSpan.read(server.requests.map(\.body))
    #expect(spans.map(\.name) == (0..<10).map { "\($0)" })
    #expect(server.requests.count == 3)
  }

  @Test("the end does not wait for a collector that does not answer")
  func silentEnd() async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
    let (exporter, tracer) = try Self.exporter(try Self.settings(server))
    exporter.start()
    for number in 0..<3 { tracer.startSpan("\(number)", context: .topLevel).end() }
    await exporter.shutDown(within: .milliseconds(100))
    let counts = exporter.counts
    #expect(counts.exported == 0 && counts.waiting == 0 && counts.failed + counts.dropped == 3, "\(counts)")
  }

  @Test("a span that is not recorded is not exported, and its context says so")
  func unrecorded() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.respond(body: "{}") })
    let exporter = OTLPExporter(try Self.settings(server), version: "1", transport: try CurlTransport(), note: { _ in })
    let tracer = OTLPTracer(sampler: TraceSampler(share: 0), exporter: exporter)
    let span = tracer.startSpan("none", context: .topLevel)
    #expect(!span.isRecording)
    span.attributes["a"] = 1
    #expect(span.attributes.isEmpty)
    span.end()
    var fields: [String: String] = [:]
    tracer.inject(span.context, into: &fields, using: Fields())
    #expect(fields["traceparent"]?.hasSuffix("-00") == true)
    var context = ServiceContext.topLevel
    tracer.extract(["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"], into: &context, using: Fields())
    let inner = tracer.startSpan("inner", context: context)
    #expect(inner.isRecording)
    #expect(inner.context.trace?.traceID.description == "0af7651916cd43dd8448eb211c80319c")
    #expect(exporter.counts == OTLPExporter.Counts())
  }

  private struct Fields: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
  }
}
