import Carabiner
import CarabinerCurl
import CarabinerHost
import Foundation
import ScriptedServer
import TestTools
import Testing

/// A manifest with a plugin that stamps requests, and an upstream that returns the stamp.
final class StampedChain: Sendable {
  let folder: FixturePlugin.Folder
  let upstream: ScriptedServer

  var manifest: String { folder.file("chain.yaml").path }

  /// - Parameters:
  ///   - stamp: The stamp that the plugin writes.
  ///   - more: Further lines of the manifest.
  init(_ stamp: String, _ more: String = "") async throws {
    folder = try FixturePlugin.Folder()
    upstream = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let stamps = ["x-stamp-down", "x-own"].compactMap { request.header($0) }.joined(separator: " ")
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"stamp":"\#(stamps)"}}"#)
      })
    try await build(stamp)
    try write(
      """
      carabiner: 1
      endpoint: \(upstream.origin)/graphql
      plugins: [{name: stamp, file: stamp.so}]
      chain: {http: [stamp, response-code]}
      \(more)
      """)
  }

  /// Replaces the plugin by another build.
  func build(_ stamp: String, defining definitions: [String] = []) async throws {
    let path = try await FixturePlugin.compile(
      "stamp", defining: ["STAMP=\"\(stamp)\""] + definitions, into: folder, name: "\(UUID().uuidString).so")
    let place = folder.file("stamp.so")
    try? FileManager.default.removeItem(at: place)
    try FileManager.default.moveItem(atPath: path, toPath: place.path)
  }

  func write(_ manifest: String) throws { try Data(manifest.utf8).write(to: folder.file("chain.yaml")) }

  static let operation = DynamicOperation(document: "query Stamp { stamp }", operationName: "Stamp")
}

extension ApolloClient {
  /// The stamp that the upstream received.
  func stamp() async throws -> String {
    var text = ""
    for try await response in try results(of: StampedChain.operation, cachePolicy: .networkOnly) {
      text = String(decoding: response.body.bytes, as: UTF8.self)
    }
    return text
  }
}

/// The response that contains a stamp.
func stamped(_ stamp: String) -> String { #"{"data":{"stamp":"\#(stamp)"}}"# }

/// Asks a gateway for the stamp of its chain.
func ask(_ address: String) async throws -> String {
  var request = URLRequest(url: try #require(URL(string: "http://\(address)/graphql")))
  request.httpMethod = "POST"
  request.setValue("application/json", forHTTPHeaderField: "Content-Type")
  request.httpBody = Data(#"{"query":"query Stamp { stamp }"}"#.utf8)
  let response = try await CurlTransport().send(request)
  var bytes = Data()
  for try await chunk in response.chunks { bytes.append(chunk) }
  return String(decoding: bytes, as: UTF8.self)
}
