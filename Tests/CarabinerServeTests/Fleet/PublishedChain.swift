import Carabiner
import CarabinerDigest
import CommandTools
import Foundation
import TestTools

/// A folder with a manifest whose plugin is a file on a real nginx.
final class PublishedChain: Sendable {
  static let token = "tok-3f9c2b71"

  let folder: StoreFolder
  let server: FileServer
  private let place: FixturePlugin.Folder

  var manifest: String { folder.file("chain.yaml") }
  var cache: String { folder.file("cache") }
  /// The options of commands that load the plugin.
  var options: [String] { ["-m", manifest, "--plugin-cache", cache] }

  /// - Parameter stamp: The stamp of the plugin that is published first, as its name too.
  init(_ stamp: String = "one") async throws {
    folder = try StoreFolder()
    server = try await FileServer()
    place = try FixturePlugin.Folder()
    _ = try folder.write("\(Self.token)\n", to: "token")
    try use(stamp, digest: try await publish(stamp))
  }

  /// Publishes a build of the plugin.
  ///
  /// - Returns: Its SHA-256.
  func publish(_ stamp: String) async throws -> String {
    let path = try await FixturePlugin.compile(
      "stamp", defining: ["STAMP=\"\(stamp)\""], into: place, name: "\(UUID().uuidString).so")
    return try publish(try Data(contentsOf: URL(filePath: path)), as: "\(stamp).so")
  }

  /// - Returns: The SHA-256 of the file.
  func publish(_ file: Data, as name: String) throws -> String {
    try server.publish(file, as: name)
    return Digest.sha256(Array(file)).hexDigits
  }

  /// Writes a manifest with a published plugin.
  func use(_ stamp: String, digest: String) throws {
    _ = try folder.write(
      """
      carabiner: 1
      serve: {return-headers: [x-stamp-*]}
      downloads:
        - prefix: \(server.origin)/
          headers: {authorization: 'Bearer ${file:token}'}
          ca-file: \(server.authorityFile)
      plugins:
        - name: stamp
          url: \(server.origin)/\(stamp).so
          sha256: "\(digest)"
      chain: {http: [stamp, response-code]}

      """, to: "chain.yaml")
  }

  /// How often a file was asked for, once it was as often as expected.
  func requests(for name: String, _ expected: Int) async throws -> Int {
    func count() -> Int { server.requests.count { $0.path == "/\(name)" } }
    let deadline = ContinuousClock.now + .seconds(60)
    while count() < expected, .now < deadline { try await Task.sleep(for: .milliseconds(10)) }
    return count()
  }
}

extension ServeProcess {
  /// The stamp that the plugin writes on responses.
  func stamp() throws -> String {
    try query("{ __typename }").head.first { $0.lowercased().hasPrefix("x-stamp-up: ") }.map { String($0.dropFirst(12)) }
      ?? "none"
  }
}
