import Carabiner
import CarabinerDigest
import CarabinerDownloads
import CarabinerManifest
import Foundation
import TestTools
import Testing

/// A folder with a cache for downloads, and manifests that fill it.
final class DownloadSite: Sendable {
  let folder: FixturePlugin.Folder
  var cache: String { folder.file("cache").path }

  init() throws { folder = try FixturePlugin.Folder() }

  /// A manifest with plugins of these URLs.
  ///
  /// - Parameters:
  ///   - files: The URLs, with the digests that the files must have.
  ///   - downloads: The list `downloads`, in JSON.
  func manifest(_ files: [(url: String, digest: String)], downloads: String = "[]") throws -> Manifest {
    let plugins = files.enumerated().map { #"{"name": "p\#($0)", "url": "\#($1.url)", "sha256": "\#($1.digest)"}"# }
    return try Manifest(
      text: #"{"carabiner": 1, "plugins": [\#(plugins.joined(separator: ", "))], "downloads": \#(downloads)}"#,
      path: "chain.json", directory: folder.url.path)
  }

  /// Downloads the files of a manifest.
  func fetch(
    _ manifest: Manifest, _ limits: DownloadLimits = DownloadLimits(), needsSidecars: Bool = false, keeping kept: Set<String> = []
  ) async throws -> DownloadedPlugins {
    let cache = cache
    return try await offThePool {
      try PluginDownloads(folder: cache, limits: limits).files(of: manifest, needsSidecars: needsSidecars, keeping: kept)
    }
  }

  /// The reason why the files of a manifest are not used.
  func refusal(_ manifest: Manifest, _ limits: DownloadLimits = DownloadLimits()) async throws -> ManifestProblem {
    do {
      _ = try await fetch(manifest, limits)
    } catch let error as ManifestError {
      return try #require(error.problems.first)
    }
    throw NotRefused()
  }

  struct NotRefused: Error {}

  /// The names of the files in the cache.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: cache)) ?? []).sorted() }

  func cached(_ digest: String) -> String { "\(cache)/\(digest).so" }
}

extension Data {
  /// Bytes that differ by their number.
  static func sample(_ number: UInt8, count: Int = 100_000) -> Data { Data(repeating: number, count: count) }

  /// SHA-256 in lower-case digits.
  var digest: String { Digest.sha256(Array(self)).hexDigits }
}

extension FileServer {
  /// The list `downloads` for its certificate.
  func downloads(_ headers: String = "{}", prefix: String? = nil) -> String {
    #"[{"prefix": "\#(prefix ?? "\(origin)/")", "headers": \#(headers), "ca-file": "\#(authorityFile)"}]"#
  }
}
