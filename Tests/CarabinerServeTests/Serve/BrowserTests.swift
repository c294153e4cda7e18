import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Pages in a real browser. `Scripts/scenario browser` installs one and runs these tests.
@Suite("carabiner serve: pages of other origins in Chromium")
struct BrowserTests {
  private static let browser = "/usr/bin/chromium"

  /// A browser that opens the page of Tests/Peers/browser.html.
  private final class Browser: @unchecked Sendable {
    // One test uses it, from one thread at a time.

    private let process = ChildProcess()
    private let (input, output) = (Pipe(), Pipe.notInherited())
    /// The port of the page.
    let port: Int

    init() throws {
      process.executableURL = Repository.python
      process.arguments = [Repository.root.appending(path: "Tests/Peers/browser.py").path, BrowserTests.browser, "120"]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      port = try #require(output.fileHandleForReading.line().split(separator: " ").last.flatMap { Int($0) })
    }

    deinit { process.terminate() }

    /// The results of the page, by its host.
    func found(_ gateway: String) throws -> JSONValue {
      try input.fileHandleForWriting.write(contentsOf: Data("\(gateway)\n".utf8))
      let data = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return try JSONValue(parsing: Array(data))
    }
  }

  @Test(
    "a page of a listed origin queries, uploads a file, and subscribes with EventSource and WebSocket; another cannot",
    .rule("gateway.19"),
    .enabled(if: FileManager.default.isExecutableFile(atPath: browser), "needs Chromium; Scripts/scenario browser installs it"))
  func page() async throws {
    let server = try await AriadneServer()
    let browser = try Browser()
    let folder = try StoreFolder()
    _ = try folder.write(
      """
      carabiner: 1
      settings: {subscriptions: events}
      serve: {cors: {origins: ["http://127.0.0.1:\(browser.port)"]}}
      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: server.endpoint)
    let endpoint = gateway.endpoint
    let found = try await offThePool { try browser.found(endpoint) }
    let labels: JSONValue = ["label 0", "label 1", "label 2"]
    // printf 'hello\n' | sha256sum
    let digest = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    #expect(
      found["127.0.0.1"] == [
        "query": "1", "upload": ["name": "höhe.txt", "size": 6, "sha256": .string(digest)], "events": labels, "socket": labels,
      ], "\(found) \(gateway.errors)")
    for attempt in ["query", "upload", "events", "socket"] {
      #expect(found["localhost"]?[attempt]?.string?.hasPrefix("failed: ") == true, "\(attempt): \(found)")
    }
  }
}
