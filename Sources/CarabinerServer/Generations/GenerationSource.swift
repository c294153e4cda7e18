internal import Carabiner
internal import CarabinerHost
internal import CarabinerManifest
internal import Foundation
internal import Logging

/// Where generations come from: a manifest's file, and what the configuration of the host adds to it.
struct GenerationSource: Sendable {
  /// A manifest that was read, and the digests of the plugins' files as they were then.
  struct Candidate: Sendable {
    /// The manifest as it is written.
    let manifest: Manifest
    let digests: [String: String]

    /// The manifest with every file pinned: what was looked at is what will be loaded.
    var pinned: Manifest {
      var pinned = manifest
      for index in pinned.plugins.indices {
        guard case .file(let path, nil) = pinned.plugins[index].source else { continue }
        pinned.plugins[index].source = .file(path, pin: digests[pinned.plugins[index].name])
      }
      return pinned
    }
  }

  /// The manifest's file; nil for a manifest that says nothing.
  let path: String?
  let configuration: PluginHost.Configuration
  /// Is told what callers of all generations do not notice.
  let observer: any ChainObserver
  /// Where the host reports, and what no report may show.
  let output: HostOutput

  /// A folder for what outlives the process; nil for none.
  private var state: String? { configuration.stateDirectory }

  /// The generation to begin with: the manifest's, or that of the last manifest that served.
  func first() throws -> Generation {
    do {
      return try generation(1, of: candidate())
    } catch {
      guard configuration.startsFromLastGood, let kept = try keptCandidate() else { throw error }
      output.warn("the last known good manifest serves, because the one that is there cannot: \(error)")
      output.logger.critical(
        "the last known good manifest serves", metadata: ["reason": "\(output.redacted("\(error)"))"])
      return try generation(1, of: kept)
    }
  }

  /// The first generation, or the successor of one.
  ///
  /// - Parameter anew: Whether all instances of plugins are made anew.
  func generation(
    _ number: UInt64, of candidate: Candidate, replacing predecessor: Generation? = nil, anew: Bool = false
  ) throws -> Generation {
    // What was switched on and off by hand stays so, as long as there is something it fits.
    var overrides = predecessor?.host.chain.overrides ?? StageOverrides(environment: ProcessInfo.processInfo.environment)
    for decision in overrides.live where !candidate.manifest.plugins.contains(where: { decision.fits($0.name) }) {
      overrides.removeLive(decision.pattern)
    }
    let crashLoop = try predecessor?.crashLoop ?? crashLoop(candidate.manifest)
    let host = try ChainRuntime(
      manifest: candidate.pinned, endpoint: configuration.endpoint, headers: configuration.headers, wire: configuration.wire,
      timeout: configuration.requestTimeout, output: output, overrides: overrides, replacing: predecessor?.host, anew: anew,
      generation: number, crashLoop: crashLoop, passesGraphQLErrors: configuration.returnsGraphQLErrors, observer: observer,
      sending: { ScopedTransport(base: $0) })
    return Generation(number, candidate.manifest, host, crashLoop: crashLoop)
  }

  /// What is known of plugins that killed the host; nil if the manifest does not ask.
  ///
  /// - Throws: A usage error if there is nowhere to remember it.
  func crashLoop(_ manifest: Manifest) throws -> CrashLoopGuard? {
    guard configuration.countsCrashes, let policy = manifest.settings.crashLoop else { return nil }
    guard let state else {
      throw ServerError.invalid("settings: {crash-loop: …} needs a folder to remember crashes in; give --state DIR")
    }
    return try CrashLoopGuard(directory: "\(state)/crashes", policy: policy)
  }

  /// Where the manifest that served last is kept; nil if nothing outlives the process.
  func lastKnownGood() throws -> LastKnownGood? {
    guard let state else { return nil }
    try FileManager.default.createDirectory(
      atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try LastKnownGood(directory: "\(state)/last-good")
  }

  /// What was kept as last known good; nil if nothing was.
  func keptCandidate() throws -> Candidate? {
    try lastKnownGood()?.manifest().map { try candidate($0) }
  }

  /// Reads manifest and files as they are now.
  ///
  /// - Throws: ``ManifestError``, or ``LoadRefusal`` if a file is none that could be loaded.
  func candidate() throws -> Candidate {
    try candidate(try path.map { try Manifest.load(path: $0) } ?? Manifest())
  }

  private func candidate(_ manifest: Manifest) throws -> Candidate {
    var digests: [String: String] = [:]
    guard configuration.pinsFiles else { return Candidate(manifest: manifest, digests: digests) }
    for plugin in manifest.plugins {
      guard case .file(let path, _) = plugin.source else { continue }
      digests[plugin.name] = try PluginNote.inspect(path: path).digest
    }
    return Candidate(manifest: manifest, digests: digests)
  }

  /// Brings up what is new in child processes first: a plugin that crashes or hangs there does not do so here.
  ///
  /// - Throws: ``LoadRefusal`` or ``ManifestError`` of the first plugin that cannot be brought up.
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

  /// Whether the same file runs with the same entry of the manifest now.
  private func isKnown(_ plugin: Manifest.Plugin, _ candidate: Candidate, _ current: Generation) -> Bool {
    guard let digest = candidate.digests[plugin.name], PluginLibrary.isLoaded(digest: digest),
      var earlier = current.manifest.plugin(named: plugin.name)
    else { return false }
    earlier.pointer = plugin.pointer
    earlier.source = plugin.source
    return earlier == plugin
  }
}
