import Dispatch
import NIOCore
import NIOHTTP1
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerGateway

/// Requests and responses whose parts come one after the other.
@Suite("HTTP/2: bodies in parts")
struct HTTP2StreamTests {
  private typealias Kind = HTTP2Client.Kind

  /// Takes all requests with a form as uploads, and holds them.
  private final class UploadHandler: RequestHandler {
    private let uploads = Mutex<[(InboundBody, GatewayReply)]>([])

    var upload: (body: InboundBody, reply: GatewayReply)? { uploads.withLock { $0.first } }

    func takesUpload(_ head: RequestHead) -> Bool { true }

    func handle(_ request: GatewayRequest, _ reply: GatewayReply) {
      guard let body = request.upload else { return reply.answer(.ok, [:], ByteBuffer(string: "other")) }
      uploads.withLock { $0.append((body, reply)) }
    }
  }

  /// The pieces that were sent, in order.
  private final class SentPieces: Sendable {
    let pieces = Mutex<[String]>([])
  }

  /// Runs tasks beside the threads of Swift, which other tests may block for long.
  private final class QueueExecutor: TaskExecutor {
    static let shared = QueueExecutor()

    private let queue = DispatchQueue(label: "pieces")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  private static let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/graphql"), (":authority", "gateway")]
  private static let form = fields + [("content-type", "multipart/form-data; boundary=b")]
  /// The window of a stream that the client has at first (RFC 9113, 6.9.2).
  private static let window = 65_535

  private func gateway(
    _ handler: any RequestHandler, _ change: (inout GatewayLimits) -> Void = { _ in }
  ) async throws -> LocalGateway {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    change(&limits)
    return try await LocalGateway(handler, limits: limits)
  }

  private static func text(_ client: HTTP2Client, on stream: UInt32) -> String {
    var text = ""
    while let frame = client.next() {
      guard frame.stream == stream else { continue }
      if frame.kind == Kind.data { text += String(decoding: frame.payload, as: UTF8.self) }
      if frame.endsStream || frame.kind == Kind.reset { break }
    }
    return text
  }

  private func sendWindow(_ client: HTTP2Client, on stream: UInt32) {
    var left = Self.window
    while left > 0 {
      let size = min(left, HTTP2Client.frameSize)
      client.send(Kind.data, 0, stream, [UInt8](repeating: 0x61, count: size))
      left -= size
    }
  }

  @Test("long pieces are sent one after the other, and each waits until the client's window has room for it")
  func pieces() async throws {
    let sent = SentPieces()
    let pieces = ["a", "b", "c"].map { String(repeating: $0, count: 20_000) }
    let gateway = try await gateway(
      RecordingHandler { _, reply in
        reply.answered(
          by: Task(executorPreference: QueueExecutor.shared) {
            reply.begin(.ok, [:])
            for piece in pieces where (try? await reply.send(ByteBuffer(string: piece))) != nil {
              sent.pieces.withLock { $0.append(piece) }
            }
            reply.endWith(ByteBuffer(string: "end"))
          })
      })
    let (first, rest) = try await offThePool {
      let client = try HTTP2Client(port: gateway.port, of: gateway, window: 8)
      client.head(1, Self.fields, ends: true)
      client.send(Kind.windowUpdate, 0, 1, [0, 0, 0x4E, 0x20])
      var first = ""
      while first.utf8.count < 20_008, let frame = client.next() {
        if frame.kind == Kind.data { first += String(decoding: frame.payload, as: UTF8.self) }
      }
      #expect(sent.pieces.withLock { $0 } == [pieces[0]])
      client.send(Kind.windowUpdate, 0, 1, [0, 1, 0, 0])
      return (first, Self.text(client, on: 1))
    }
    #expect(first + rest == pieces.joined() + "end")
    #expect(await eventually { sent.pieces.withLock { $0 } == pieces })
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("a response that is given up resets its stream, and others are served")
  func abandoned() async throws {
    let gateway = try await gateway(
      RecordingHandler { request, reply in
        guard request.head.method == .POST else { return reply.answer(.ok, [:], ByteBuffer(string: "served")) }
        reply.begin(.ok, [:])
        reply.abandon()
      })
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.fields, ends: true)
    var last = client.next()
    while let frame = last, frame.kind != Kind.reset { last = client.next() }
    #expect(last?.stream == 1 && last?.errorCode == 8, "\(String(describing: last))")
    client.head(3, [(":method", "GET")] + Self.fields.dropFirst(), ends: true)
    #expect(Self.text(client, on: 3) == "served")
  }

  @Test("a response with a field that HTTP does not allow resets its stream", arguments: ["a\r\nb: c", "a\0"])
  func malformedResponse(value: String) async throws {
    let gateway = try await gateway(RecordingHandler { _, reply in reply.answer(.ok, ["x": value], ByteBuffer(string: "text")) })
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.fields, ends: true)
    let frame = client.next()
    #expect(frame?.kind == Kind.reset && frame?.errorCode == 2, "\(String(describing: frame))")
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("a client that waits for 100 Continue gets it, and then its response (RFC 9110, 10.1.1)")
  func expectation() async throws {
    let gateway = try await gateway(RecordingHandler { request, reply in reply.answer(.ok, [:], request.body) })
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.fields + [("expect", "100-continue")])
    let first = client.next()
    #expect(first?.kind == Kind.headers && first?.endsStream == false)
    client.send(Kind.data, 0x1, 1, Array("body".utf8))
    #expect(Self.text(client, on: 1) == "body")
  }

  @Test("a body that comes slowly is refused with 408, and the connection continues to serve")
  func slowBody() async throws {
    let gateway = try await gateway(RecordingHandler { request, reply in reply.answer(.ok, [:], request.body) }) {
      $0.receiveTimeout = .milliseconds(300)
    }
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.fields)
    client.send(Kind.data, 0, 1, Array("bo".utf8))
    #expect(Self.text(client, on: 1).contains("did not arrive completely"))
    client.head(3, Self.fields)
    client.send(Kind.data, 0x1, 3, Array("body".utf8))
    #expect(Self.text(client, on: 3) == "body")
  }

  @Test("a body in many frames arrives whole, and the client may send on while others do not")
  func longBody() async throws {
    let gateway = try await gateway(RecordingHandler { request, reply in reply.answer(.ok, [:], request.body) })
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.fields)
    client.head(3, Self.fields)
    var sent = ""
    for index in 0..<500 {
      sent += "\(index),"
      client.send(Kind.data, 0, 3, Array("\(index),".utf8))
    }
    client.send(Kind.data, 0x1, 3, [])
    #expect(Self.text(client, on: 3) == sent)
    client.send(Kind.data, 0x1, 1, Array("late".utf8))
    #expect(Self.text(client, on: 1) == "late")
  }

  @Test("the window of an upload is returned when the operation reads, and that of the connection at once")
  func backPressure() async throws {
    let handler = UploadHandler()
    let gateway = try await gateway(handler)
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.form)
    sendWindow(client, on: 1)
    client.head(3, Self.fields, ends: true)
    #expect(Self.text(client, on: 3) == "other")
    #expect(client.windows[1] == nil && client.windows[0] ?? 0 >= Self.window / 2, "\(client.windows)")
    let upload = try #require(handler.upload)
    var read = 0
    while read < Self.window, let bytes = try await upload.body.next() { read += bytes.readableBytes }
    #expect(read == Self.window)
    // The window is returned on the loop of the connection.
    var stream: UInt32 = 5
    while client.windows[1] == nil, stream < 1000 {
      client.head(stream, Self.fields, ends: true)
      #expect(Self.text(client, on: stream) == "other")
      stream += 2
    }
    #expect(client.windows[1] ?? 0 >= Self.window / 2, "\(client.windows)")
    client.send(Kind.data, 0x1, 1, Array("end".utf8))
    #expect(try await upload.body.next().map { String(buffer: $0) } == "end")
    #expect(try await upload.body.next() == nil)
    upload.reply.answer(.ok, [:], ByteBuffer(string: "done"))
    #expect(Self.text(client, on: 1) == "done")
  }

  @Test("an upload whose client disconnects or resets it fails, and is answered no more", arguments: [true, false])
  func brokenUpload(disconnects: Bool) async throws {
    let handler = UploadHandler()
    let gateway = try await gateway(handler)
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.form)
    client.send(Kind.data, 0, 1, Array("begin".utf8))
    #expect(await eventually { handler.upload != nil })
    let upload = try #require(handler.upload)
    #expect(try await upload.body.next().map { String(buffer: $0) } == "begin")
    if disconnects { client.hangUp() } else { client.reset(1) }
    await #expect(throws: CancellationError.self) { try await upload.body.next() }
    #expect(await eventually { upload.reply.isOver })
    upload.reply.answer(.ok, [:], ByteBuffer(string: "done"))
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("an upload above the limit fails, and its refusal is sent before the rest arrives")
  func largeUpload() async throws {
    let handler = UploadHandler()
    let gateway = try await gateway(handler) { $0.maximumUploadBytes = 10_000 }
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.head(1, Self.form)
    sendWindow(client, on: 1)
    #expect(await eventually { handler.upload != nil })
    let upload = try #require(handler.upload)
    await #expect(throws: (any Error).self) { while try await upload.body.next() != nil {} }
    upload.reply.answer(.payloadTooLarge, [:], ByteBuffer(string: "too large"))
    #expect(Self.text(client, on: 1) == "too large")
    let reset = client.next()
    #expect(reset?.kind == Kind.reset && reset?.errorCode == 0, "\(String(describing: reset))")
  }
}
