import Logging
import NIOCore
import NIOPosix
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerGateway

/// Records for each line whether it was logged on the thread of an event loop.
private final class LoopRecorder: Sendable {
  private struct Handler: LogHandler {
    let recorder: LoopRecorder
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let isOnLoop = MultiThreadedEventLoopGroup.currentEventLoop != nil
      recorder.found.withLock { $0.append(isOnLoop) }
    }
  }

  private let found = Mutex<[Bool]>([])

  var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }
  var all: [Bool] { found.withLock(\.self) }
}

@Suite("Large requests to operations")
struct LargeRequestTests {
  @Test(
    "a request above 64 KiB is read on another thread than the connection's, a smaller one on the connection's",
    .rule("convention.3", "gateway.23"))
  func thread() async throws {
    // A refusal is logged on the thread that has read the request.
    let recorder = LoopRecorder()
    let gateway = try await LocalGateway(
      OperationService(
        settings: CurrentSettings(limits: .untimed), runner: ScriptedRunner(), metrics: GatewayMetrics(),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, accessLogger: recorder.logger))
    for (number, count) in [100, OperationService.maximumInlineBytes].enumerated() {
      let body = #"{"query":"{ \#(String(repeating: "a ", count: count / 2))"}"#
      let (text, isClosed) = try await gateway.exchange(
        """
        POST /graphql HTTP/1.1\r
        Host: a\r
        Connection: close\r
        Accept: application/graphql-response+json\r
        Content-Type: application/json\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """)
      #expect(isClosed && text.hasPrefix("HTTP/1.1 400 ") && text.contains("GRAPHQL_PARSE_FAILED"), "\(text)")
      // The line may come after the response.
      let deadline = ContinuousClock.now + .seconds(60)
      while recorder.all.count <= number, .now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    }
    #expect(recorder.all == [true, false])
  }
}
