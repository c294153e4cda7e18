import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The address of --metrics.
@Suite("carabiner serve: metrics over TCP")
struct MetricsAddressTests {
  private let upstream: DemoServerProcess
  private let folder: StoreFolder

  init() throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  private func gateway() throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, ["--metrics", "127.0.0.1:0"])
  }

  /// The origin of the address with the role.
  private func origin(_ gateway: ServeProcess) async throws -> String {
    let listeners = try await gateway.status()["listeners"]?.array ?? []
    #expect(listeners.first?["roles"] == ["operations", "health"] && listeners.first?["tls"] == false, "\(listeners)")
    let address = try #require(listeners.first { $0["roles"] == ["metrics"] }?["address"]?.string)
    return "http://\(address)"
  }

  /// The series without their values, which change between two scrapes.
  private static func series(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.hasPrefix("#") ? String($0) : String($0.prefix { $0 != " " }) }
  }

  @Test(
    "--metrics serves the same text as the admin socket, each metric once with its type, and no client's name is in it",
    .rule("gateway.24"))
  func text() async throws {
    let gateway = try gateway()
    #expect(try gateway.query("query NameOfTheClient { __typename }").status == 200)
    let origin = try await origin(gateway)
    let answer = try RawAnswer("\(origin)/metrics")
    #expect(answer.status == 200 && answer.head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
    let admin = try await ToolRun(
      URL(filePath: "/usr/bin/curl"), ["-sS", "--fail", "--unix-socket", gateway.socket, "http://x/metrics"])
    #expect(Self.series(answer.text) == Self.series(admin.output))
    #expect(try await ScrapedMetrics(text: answer.text).problems == [])
    let types = answer.text.matches(of: #/# TYPE (\S+) (counter|gauge|histogram)\n/#).map { String($0.1) }
    #expect(types.count == Set(types).count && types.count > 20)
    #expect(!answer.text.contains("NameOfTheClient"))
  }

  @Test(
    "no other path is served at --metrics", .rule("gateway.24"),
    arguments: [
      ("GET", "/status", 404), ("POST", "/reload", 404), ("POST", "/drain", 404), ("GET", "/chain", 404),
      ("GET", "/healthz", 404),
      ("GET", "/readyz", 404), ("POST", "/graphql", 404), ("POST", "/metrics", 405),
    ])
  func otherPaths(_ method: String, _ path: String, _ status: Int) async throws {
    let gateway = try gateway()
    let answer = try RawAnswer("\(try await origin(gateway))\(path)", method: method, body: method == "POST" ? "{}" : nil)
    #expect(answer.status == status, "\(answer.text)")
    #expect(try await gateway.status()["reloads"]?["all"] == 0)
    #expect(try RawAnswer("\(gateway.origin)/metrics").status == 404)
  }

  @Test("a socket and a text without a port are refused", .rule("gateway.24"), arguments: ["unix:/tmp/x", "9464", "fd:3"])
  func badAddress(_ text: String) async throws {
    let run = try await CommandRun(["serve", "-m", folder.file("chain.yaml"), "--metrics", text])
    #expect(run.status == 2 && run.errors.contains("--metrics takes HOST:PORT"), "\(run.errors)")
  }
}
