internal import Carabiner
internal import CarabinerBridge
internal import CarabinerDownloads
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerSources
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// A loaded manifest, with the number of operations that run through it.
final class Generation: Sendable {
  let number: UInt64
  /// The manifest as written, with the URLs of plugins.
  let manifest: Manifest
  let host: ChainRuntime
  /// The record of plugins that crashed the host; nil if the manifest does not configure it.
  let crashLoop: CrashLoopGuard?
  let forwardedHeaders: HeaderSelection
  let returnedHeaders: HeaderSelection
  let connectionInitHeaders: HeaderSelection
  let cachePolicy: CachePolicy
  /// The rules of the manifest for clients; nil if there are none.
  let clientPolicy: ClientPolicy?
  /// The statements about its files; nil if signatures are not checked.
  let releases: VerifiedReleases?
  /// The files of its plugins that were downloaded. They are not removed from their folder while the generation lives.
  let downloads: DownloadedPlugins
  /// Whether this is the last known good manifest, because that of the source could not be used.
  let isKept: Bool
  /// The manifest as its source has it; nil if it is from a file, or if it is the last known good one.
  let published: PublishedManifest?
  let since = Date()

  private let operations = Atomic<Int>(0)
  private let retired = Atomic<Bool>(false)

  init(
    _ number: UInt64, _ manifest: Manifest, _ host: ChainRuntime, crashLoop: CrashLoopGuard?, clientPolicy: ClientPolicy?,
    releases: VerifiedReleases?, downloads: DownloadedPlugins, isKept: Bool, published: PublishedManifest?
  ) {
    self.published = published
    self.downloads = downloads
    self.isKept = isKept
    self.crashLoop = crashLoop
    self.number = number
    self.manifest = manifest
    self.host = host
    // If the manifest sets a field, the client's value of it is not used.
    let fixed = host.headers.map(\.name) + manifest.settings.clientHeaders.map(\.name)
    forwardedHeaders = HeaderSelection(manifest.serve.forwardedHeaders, except: fixed)
    returnedHeaders = HeaderSelection(manifest.serve.returnedHeaders)
    connectionInitHeaders = HeaderSelection(manifest.serve.connectionInitHeaders)
    cachePolicy = manifest.serve.cachePolicy
    self.clientPolicy = clientPolicy
    self.releases = releases
  }

  /// The number of operations that run through this generation.
  var operationCount: Int { operations.load(ordering: .relaxed) }

  /// The SHA-256 digests of the plugin files, by entry.
  var digests: [String: String] { host.chain.libraries.mapValues(\.digest) }

  func enter() { operations.add(1, ordering: .relaxed) }

  /// - Returns: Whether this generation is retired and has no more operations.
  func leave() -> Bool {
    let isLast = operations.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    return isLast && retired.load(ordering: .acquiring)
  }

  /// Marks the generation as retired: no new operation starts in it.
  ///
  /// - Returns: Whether it has no operations.
  func retire() -> Bool {
    retired.store(true, ordering: .sequentiallyConsistent)
    return operations.load(ordering: .sequentiallyConsistent) == 0
  }
}
