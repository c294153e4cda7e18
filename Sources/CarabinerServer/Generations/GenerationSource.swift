internal import Carabiner
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Foundation
internal import Logging

/// Creates generations from a manifest file and the configuration of the host.
struct GenerationSource: Sendable {
  /// A parsed manifest, and the digests of the plugin files at that time.
  struct Candidate: Sendable {
    /// The manifest as written in the file.
    let manifest: Manifest
    let digests: [String: String]
    /// The decisions of the manifest about clients; nil if there are none.
    let clientPolicy: ClientPolicy?

    /// The manifest with the digest of each file pinned, so that the files that were checked are those that are loaded.
    var pinned: Manifest {
      var pinned = manifest
      for index in pinned.plugins.indices {
        guard case .file(let path, nil) = pinned.plugins[index].source else { continue }
        pinned.plugins[index].source = .file(path, pin: digests[pinned.plugins[index].name])
      }
      return pinned
    }
  }

  /// The path of the manifest; nil for an empty manifest.
  let path: String?
  let configuration: PluginHost.Configuration
  /// Observes the chains of all generations.
  let observer: any ChainObserver
  /// Logs and warnings, without secrets.
  let output: HostOutput

  /// A folder for data that outlives the process; nil for none.
  private var state: String? { configuration.stateDirectory }

  /// Creates the first generation, from the manifest or from the last known good one.
  func first() throws -> Generation {
    do {
      return try generation(1, of: candidate())
    } catch {
      guard configuration.startsFromLastGood, let kept = try keptCandidate() else { throw error }
      output.warn("the last known good manifest serves, because the current one cannot: \(error)")
      output.logger.critical(
        "the last known good manifest serves", metadata: ["reason": "\(output.redacted("\(error)"))"])
      return try generation(1, of: kept)
    }
  }

  /// Creates the first generation, or the successor of one.
  ///
  /// - Parameter anew: Whether all plugin instances are recreated.
  func generation(
    _ number: UInt64, of candidate: Candidate, replacing predecessor: Generation? = nil, anew: Bool = false
  ) throws -> Generation {
    if let predecessor { try candidate.manifest.requireProtocol(of: predecessor.host.manifest) }
    // Manual overrides are kept as long as they match an entry.
    var overrides = predecessor?.host.chain.overrides ?? StageOverrides(environment: ProcessInfo.processInfo.environment)
    for decision in overrides.live where !candidate.manifest.plugins.contains(where: { decision.fits($0.name) }) {
      overrides.removeLive(decision.pattern)
    }
    let crashLoop = try predecessor?.crashLoop ?? crashLoop(candidate.manifest)
    let host = try ChainRuntime(
      manifest: candidate.pinned, endpoint: configuration.endpoint, headers: configuration.headers, wire: configuration.wire,
      timeout: configuration.requestTimeout, output: output, overrides: overrides, replacing: predecessor?.host, anew: anew,
      generation: number, crashLoop: crashLoop, passesGraphQLErrors: configuration.returnsGraphQLErrors, observer: observer,
      sending: { ScopedTransport(base: $0, recovery: $1) })
    host.upstreams.watch(host.headers)
    return Generation(number, candidate.manifest, host, crashLoop: crashLoop, clientPolicy: candidate.clientPolicy)
  }

  /// The record of plugins that crashed the host; nil if the manifest does not configure it.
  ///
  /// - Throws: A usage error if there is no folder to store it.
  func crashLoop(_ manifest: Manifest) throws -> CrashLoopGuard? {
    guard configuration.countsCrashes, let policy = manifest.settings.crashLoop else { return nil }
    guard let state else {
      throw ServerError.invalid("settings: {crash-loop: …} needs a folder to remember crashes in; give --state DIR")
    }
    return try CrashLoopGuard(directory: "\(state)/crashes", policy: policy)
  }

  /// The store of the last known good manifest; nil without a state folder.
  func lastKnownGood() throws -> LastKnownGood? {
    guard let state else { return nil }
    try FileManager.default.createDirectory(
      atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try LastKnownGood(directory: "\(state)/last-good")
  }

  /// The last known good manifest; nil if none is stored.
  func keptCandidate() throws -> Candidate? {
    try lastKnownGood()?.manifest().map { try candidate($0) }
  }

  /// Reads the manifest and the digests of its files.
  ///
  /// - Throws: ``ManifestError``, or ``HostError`` if a file cannot be loaded as a plugin.
  func candidate() throws -> Candidate {
    try candidate(try path.map { try Manifest.load(path: $0) } ?? Manifest())
  }

  /// - Throws: ``ManifestError`` also if the configuration refuses one of the manifest's lists.
  private func candidate(_ manifest: Manifest) throws -> Candidate {
    if configuration.refusesCacheAndParsing { try manifest.requireDefaultCacheAndParsing() }
    let policy = try manifest.clientPolicy()
    var digests: [String: String] = [:]
    guard configuration.pinsFiles else { return Candidate(manifest: manifest, digests: digests, clientPolicy: policy) }
    for plugin in manifest.plugins {
      guard case .file(let path, _) = plugin.source else { continue }
      digests[plugin.name] = try PluginNote.inspect(path: path).digest
    }
    return Candidate(manifest: manifest, digests: digests, clientPolicy: policy)
  }

  /// Loads new plugins in child processes first, so that a plugin that crashes or hangs does not affect this process.
  ///
  /// - Throws: ``HostError`` or ``ManifestError`` of the first plugin that cannot be loaded.
  func probe(_ candidate: Candidate, current: Generation) throws {
    guard let path, let probe = configuration.probe else { return }
    let overrides = current.host.chain.overrides
    for plugin in candidate.manifest.plugins where overrides.runs(plugin) && !isKnown(plugin, candidate, current) {
      let report = PluginProbe(
        candidate.manifest, at: path, plugin: plugin, timeout: probe.timeout, executable: probe.executable
      ).report()
      if let refusal = report.refusal { throw refusal }
      guard report.problems.isEmpty else {
        throw ManifestError(path: path, problems: candidate.manifest.placed(report.problems))
      }
    }
  }

  /// Whether the same file with the same manifest entry is already running.
  private func isKnown(_ plugin: Manifest.Plugin, _ candidate: Candidate, _ current: Generation) -> Bool {
    guard let digest = candidate.digests[plugin.name], PluginLibrary.isLoaded(digest: digest),
      var earlier = current.manifest.plugin(named: plugin.name)
    else { return false }
    earlier.pointer = plugin.pointer
    earlier.source = plugin.source
    return earlier == plugin
  }
}
