import CarabinerWire
import CommandTools
import Foundation
import TestTools

/// A gateway with the plugin redis-cache.
final class CachingGateway: Sendable {
  struct NoHit: Error {
    let query: String
    let log: String
  }

  static let plugin = CommandRun.root.appending(path: "Plugins/redis-cache/build/redis-cache.so").path

  /// How often a condition is looked at, every 20 ms.
  private static let patience = 3000

  let process: ServeProcess

  /// - Parameters:
  ///   - config: Settings of the plugin. The prefix is `shop` unless they have one.
  ///   - entry: Settings of the plugin's entry in the manifest.
  init(
    _ folder: StoreFolder, url: String, _ config: String, upstream: CountingUpstream, entry: String = "",
    environment: [String: String] = [:]
  ) async throws {
    let prefix = config.contains("prefix:") ? "" : "prefix: shop, "
    let name = "\(UUID().uuidString).yaml"
    _ = try folder.write(
      """
      carabiner: 1
      serve: {cache-policy: cacheFirst, forward-headers: [x-user, authorization, cookie]}
      plugins:
        - {name: redis-cache, file: \(Self.plugin), \(entry.isEmpty ? "" : entry + ", ")config: {url: "\(url)", \(prefix)\(config)}}
      chain: {cache: [redis-cache], http: [redis-cache]}
      """, to: name)
    process = try ServeProcess(folder, manifest: name, endpoint: upstream.endpoint, environment: environment)
  }

  /// The member `n` of the response; the whole response if it has none.
  func answer(_ query: String, variables: String = "{}", headers: [String] = []) throws -> String {
    let text = JSONValue.string(query).description
    let answer = try RawAnswer(process.endpoint, body: #"{"query":\#(text),"variables":\#(variables)}"#, headers: headers)
    let json = try JSONValue(parsing: answer.text)
    return json["data"]?["n"]?.string ?? answer.text
  }

  /// Asks until two answers are the same, which only the cache can give: the gateway connects a moment after its start, and stores a
  /// response a moment after it was sent.
  func hit(_ query: String, variables: String = "{}", headers: [String] = []) async throws -> String {
    var last = try answer(query, variables: variables, headers: headers)
    for _ in 0..<Self.patience {
      let next = try answer(query, variables: variables, headers: headers)
      if next == last { return next }
      last = next
      try await Task.sleep(for: .milliseconds(20))
    }
    throw NoHit(query: query, log: process.errors)
  }

  /// Waits for a text in the log.
  func logs(_ text: String) async -> Bool { await eventually { process.errors.contains(text) } }
}
