import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("The example that embeds host and gateway")
struct EmbeddedGatewayTests {
  private static let example = "Tests/Examples/EmbeddedGateway"

  @Test("the example runs a query, serves clients, reloads after SIGHUP, and ends after SIGTERM")
  func run() async throws {
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"__typename":"Query"}}"#)
      })
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    let manifest = folder.appending(path: "chain.yaml")
    let text = "carabiner: 1\nendpoint: \(upstream.origin)/graphql\nchain:\n  http: [response-code]\n"
    try Data(text.utf8).write(to: manifest)

    let process = ChildProcess()
    process.executableURL = Repository.root.appending(path: ".build/debug/EmbeddedGateway")
    process.arguments = [manifest.path, "127.0.0.1:0"]
    let output = Pipe.notInherited()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer { process.terminate() }
    let lines = output.fileHandleForReading
    #expect(try await offThePool { lines.line() } == #"{"data":{"__typename":"Query"}}"#)
    let listening = try await offThePool { lines.line() }
    let address = try #require(listening.wholeMatch(of: /listening (127\.0\.0\.1:\d+)/)?.1)

    var request = URLRequest(url: try #require(URL(string: "http://\(address)/graphql")))
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = Data(#"{"query":"{ __typename }"}"#.utf8)
    let response = try await CurlTransport().send(request)
    var bytes = Data()
    for try await chunk in response.chunks { bytes.append(chunk) }
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"data":{"__typename":"Query"}}"#)

    try Data((text + "settings: {timeout: 30s}\n").utf8).write(to: manifest)
    kill(process.processIdentifier, SIGHUP)
    #expect(try await offThePool { lines.line() }.contains("~ settings"))
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test("the listings of the guide are the files of the example")
  func listings() throws {
    let page = try String(
      contentsOf: Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/EmbeddingHost.md"), encoding: .utf8)
    for file in ["Package.swift", "Sources/EmbeddedGateway/EmbeddedGateway.swift"] {
      let source = try String(contentsOf: Repository.root.appending(path: "\(Self.example)/\(file)"), encoding: .utf8)
      // The guide assumes a checkout next to the reader's package.
      let wanted = source.replacing(
        #".package(name: "carabiner", path: "../../..")"#, with: #".package(name: "carabiner", path: "../carabiner")"#)
      #expect(page.contains(wanted), "EmbeddingHost.md lacks \(file) as it is")
    }
  }

  @Test("the listing of a provider of one's own is the code of a test")
  func providerListing() throws {
    func code(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { String($0.drop { $0 == " " }).replacing("private ", with: "") }.joined(separator: "\n")
    }
    let page = try String(
      contentsOf: Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/EmbeddingHost.md"), encoding: .utf8)
    let test = try String(
      contentsOf: Repository.root.appending(path: "Tests/CarabinerHostTests/Host/ManifestProviderTests.swift"), encoding: .utf8)
    let opening = "```swift\n"
    let listing = try #require(page.components(separatedBy: opening).first { $0.hasPrefix("/// Adds a header") })
    let wanted = code(try #require(listing.components(separatedBy: "```").first))
    #expect(code(test).contains(wanted), "ManifestProviderTests.swift lacks the listing of EmbeddingHost.md")
  }
}
