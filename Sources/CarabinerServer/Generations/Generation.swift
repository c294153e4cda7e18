internal import Carabiner
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Foundation
internal import Synchronization

/// A manifest brought to life, with the count of operations that run through it.
final class Generation: Sendable {
  let number: UInt64
  /// The manifest as it is written.
  let manifest: Manifest
  let host: ChainRuntime
  /// What is known of plugins that killed the host; nil if the manifest does not ask.
  let crashLoop: CrashLoopGuard?
  let forwardedHeaders: HeaderSelection
  let returnedHeaders: HeaderSelection
  let connectionInitHeaders: HeaderSelection
  let cachePolicy: CachePolicy
  let since = Date()

  private let operations = Atomic<Int>(0)
  private let retired = Atomic<Bool>(false)

  init(_ number: UInt64, _ manifest: Manifest, _ host: ChainRuntime, crashLoop: CrashLoopGuard?) {
    self.crashLoop = crashLoop
    self.number = number
    self.manifest = manifest
    self.host = host
    forwardedHeaders = HeaderSelection(manifest.serve.forwardedHeaders)
    returnedHeaders = HeaderSelection(manifest.serve.returnedHeaders)
    connectionInitHeaders = HeaderSelection(manifest.serve.connectionInitHeaders)
    cachePolicy = manifest.serve.cachePolicy
  }

  /// How many operations run through it.
  var operationCount: Int { operations.load(ordering: .relaxed) }

  /// The SHA-256 of the plugins' files, by entry.
  var digests: [String: String] { host.chain.libraries.mapValues(\.digest) }

  func enter() { operations.add(1, ordering: .relaxed) }

  /// - Returns: Whether nobody needs this generation any more.
  func leave() -> Bool {
    let isLast = operations.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    return isLast && retired.load(ordering: .acquiring)
  }

  /// No operation begins in it from now on.
  ///
  /// - Returns: Whether nobody needs this generation any more.
  func retire() -> Bool {
    retired.store(true, ordering: .sequentiallyConsistent)
    return operations.load(ordering: .sequentiallyConsistent) == 0
  }
}
