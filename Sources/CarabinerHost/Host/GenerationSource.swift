internal import Carabiner
internal import CarabinerBridge
internal import CarabinerDownloads
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerRelease
internal import CarabinerSources
internal import CarabinerUpstreams
internal import Foundation
internal import Logging

/// Creates generations from a manifest and the configuration of the host.
struct GenerationSource: Sendable {
  /// A parsed manifest, and the digests of the plugin files at that time.
  struct Candidate: Sendable {
    /// The manifest as written, with the URLs of plugins.
    var manifest: Manifest
    /// The manifest with the downloaded files in place of URLs.
    var local: Manifest
    let downloads: DownloadedPlugins
    let digests: [String: String]
    /// Nil if signatures are not checked.
    let releases: VerifiedReleases?
    /// The rules of the manifest for clients; nil if there are none.
    let clientPolicy: ClientPolicy?
    /// Whether it is the last known good one.
    var isKept = false
    /// The manifest as its source has it; nil if it is from a file, or if it is the last known good one.
    var published: PublishedManifest?
    /// Whether this manifest of a fleet replaces a candidate that was withdrawn.
    var isReturn = false

    /// The manifest with the digest of each file pinned.
    var pinned: Manifest { local.pinning(digests) }
  }

  let origin: ManifestOrigin
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
      // A node that restarts must not fail because its source does not answer, or has a manifest that cannot be used.
      if let remote = origin.remote, let used = remote.used { remote.note(.refused(output.redacted("\(error)")), of: used) }
      guard configuration.startsFromLastGood || origin.remote != nil, let kept = try keptCandidate(after: error) else {
        throw error
      }
      output.warn("the last known good manifest serves, because the current one cannot: \(error)")
      output.logger.critical(
        "the last known good manifest serves", metadata: ["reason": "\(output.redacted("\(error)"))"])
      noteExpired(kept)
      return try generation(1, of: kept)
    }
  }

  /// Logs the files of the last good state that are used although their statements have expired.
  private func noteExpired(_ candidate: Candidate) {
    guard let releases = candidate.releases, let now = configuration.trust?.time else { return }
    for statement in releases.statements where statement.expires <= now {
      output.logger.critical(
        "a file of the last known good state is used although its statement has expired; sign it again",
        metadata: ["file": "\(statement.subject)", "expired": "\(statement.expires)"])
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
      generation: number, crashLoop: crashLoop, passesGraphQLErrors: configuration.returnsGraphQLErrors, own: configuration.own,
      observer: observer,
      sending: { ScopedTransport(base: $0, recovery: $1) })
    host.upstreams.watch(host.headers)
    return Generation(
      number, candidate.manifest, host, crashLoop: crashLoop, clientPolicy: candidate.clientPolicy, releases: candidate.releases,
      downloads: candidate.downloads, isKept: candidate.isKept, published: candidate.published)
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

  /// Stores a serving generation as the last known good one, and the serials of its files.
  func keep(_ generation: Generation) throws {
    try lastKnownGood()?.keep(
      generation.manifest, libraries: generation.host.chain.libraries, signatures: generation.releases?.signatures)
    guard let file = serialFile, let releases = generation.releases else { return }
    let known = try file.read()
    var record = known
    for statement in releases.statements { record.keep(statement) }
    if record != known { try file.write(record) }
  }

  /// Checks the serials of a candidate's files again, because another generation may have been kept since it was read.
  ///
  /// - Throws: ``ReleaseError`` with the code `downgrade`, or if the record cannot be read.
  func requireSerials(of candidate: Candidate) throws {
    guard let record = try serialFile?.read(), let releases = candidate.releases else { return }
    for statement in releases.statements { try record.check(statement) }
  }

  /// Removes the highest recorded serial of a file.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: ``ReleaseError`` if the record cannot be read or written; ``ServerError`` if the host keeps none.
  func resetSerial(of subject: ReleaseSubject) throws -> Bool {
    guard let file = serialFile else {
      throw ServerError.invalid("the gateway keeps no serials; it does so with --trust FILE and --state DIR")
    }
    if try configuration.trust?.revocations?.published?.forget(subject) == true { return true }
    var record = try file.read()
    guard record.reset(subject) else { return false }
    try file.write(record)
    return true
  }

  /// The record of serials; nil if signatures are not checked, or without a state folder.
  private var serialFile: SerialFile? {
    configuration.trust == nil ? nil : state.map { SerialFile(path: "\($0)/serials") }
  }

  /// The last known good manifest, after the current one was refused. If it is refused too, its error is thrown, and the first one is
  /// logged.
  private func keptCandidate(after refusal: any Error) throws -> Candidate? {
    do {
      return try keptCandidate()
    } catch {
      output.logger.error(
        "the manifest is refused, and the last known good one too", metadata: ["reason": "\(output.redacted("\(refusal)"))"])
      throw error
    }
  }

  /// The last known good manifest; nil if none is stored.
  func keptCandidate() throws -> Candidate? {
    guard let store = try lastKnownGood() else { return nil }
    guard let trust = configuration.trust else { return try store.manifest().map { try candidate($0, isKept: true) } }
    guard let (origin, signatures) = try store.signed() else { return nil }
    guard let signatures else {
      throw ReleaseError(
        .unsigned, "the last known good manifest was kept without --trust, so its files are not used; start with signed files")
    }
    let check = try check(trust, kept: signatures)
    let text = Array(signatures.manifest.utf8)
    let file = try check.verify(manifest: text, at: origin, Array(signatures.manifestSidecar.utf8))
    let manifest = try Manifest(text: signatures.manifest, path: origin, directory: Manifest.directory(of: origin))
    var kept = try candidate(store.usingCopiesOfDownloads(in: manifest), check, (file, text), isKept: true)
    kept.manifest = store.usingCopies(in: manifest, kept.digests)
    kept.local = store.usingCopies(in: kept.local, kept.digests)
    return kept
  }

  private func check(_ trust: TrustPolicy, kept: KeptSignatures? = nil) throws -> ReleaseCheck {
    try ReleaseCheck(trust, serials: try serialFile?.read() ?? SerialRecord(), kept: kept)
  }

  /// Reads the manifest and the digests of its files. It blocks while files are downloaded.
  ///
  /// - Throws: ``SourceError`` if the source has none yet, ``ManifestError``, ``ReleaseError`` for the first file that is not accepted, or
  ///   ``HostError`` if a file cannot be loaded as a plugin.
  func candidate() throws -> Candidate {
    switch origin {
    case .none: return try candidate(Manifest(), check())
    case .file(let path):
      guard let check = try check() else { return try candidate(try Manifest.load(path: path)) }
      let (manifest, file, text) = try check.manifest(at: path)
      return try candidate(manifest, check, (file, text))
    case .remote(let remote):
      let before = remote.used
      // This comes first, because a later step may refuse the manifest.
      let published = try remote.use()
      var candidate = try candidate(published, named: remote.label)
      candidate.published = published
      candidate.isReturn = before.map { $0.isCandidate && !published.isCandidate && !published.isSame(as: $0) } ?? false
      return candidate
    }
  }

  private func candidate(_ published: PublishedManifest, named label: String) throws -> Candidate {
    guard let check = try check() else {
      let manifest = try Manifest(bytes: published.text, path: label, directory: nil)
      output.logger.warning(
        "the manifest is not signed, so each user with write access to its source can run code here; sign it, and start with --trust",
        metadata: ["manifest": "\(label)"])
      return try candidate(manifest)
    }
    let (manifest, file, text) = try check.manifest(published, named: label)
    return try candidate(manifest, check, (file, text))
  }

  /// Nil if signatures are not checked.
  private func check() throws -> ReleaseCheck? { try configuration.trust.map { try check($0) } }

  /// - Parameters:
  ///   - check: Verifies the files of the plugins; nil if signatures are not checked.
  ///   - file: The manifest's signature and text; nil if there is none.
  ///   - isKept: Whether it is the last known good manifest, for which nothing is downloaded.
  /// - Throws: ``ManifestError`` also if the configuration refuses one of the manifest's lists.
  private func candidate(
    _ manifest: Manifest, _ check: ReleaseCheck? = nil, _ file: (file: SignedFile, text: [UInt8])? = nil, isKept: Bool = false
  ) throws -> Candidate {
    if configuration.refusesCacheAndParsing { try manifest.requireDefaultCacheAndParsing() }
    let policy = try manifest.clientPolicy()
    let downloads = try downloads(of: manifest, isOffline: isKept, needsSidecars: check?.readsSidecars ?? false)
    let local = downloads.replacingURLs(in: manifest)
    var digests: [String: String] = [:]
    var plugins: [String: SignedFile] = [:]
    for plugin in local.plugins where configuration.pinsFiles || check != nil {
      guard case .file(let path, let pin) = plugin.source else { continue }
      plugins[plugin.name] = try check?.plugin(plugin, at: path, pin: pin, sidecar: downloads.sidecars[plugin.name])
      digests[plugin.name] = try plugins[plugin.name]?.digest ?? PluginNote.inspect(path: path).digest
    }
    let releases = check.map { $0.releases(of: file, plugins) }
    return Candidate(
      manifest: manifest, local: local, downloads: downloads, digests: digests, releases: releases, clientPolicy: policy,
      isKept: isKept)
  }

  /// Loads new plugins in child processes first, so that a plugin that crashes or hangs does not affect this process.
  ///
  /// - Throws: ``HostError`` or ``ManifestError`` of the first plugin that cannot be loaded.
  func probe(_ candidate: Candidate, current: Generation) throws {
    guard let probe = configuration.probe else { return }
    let overrides = current.host.chain.overrides
    let plugins = candidate.local.plugins.filter { overrides.runs($0) && !isKnown($0, candidate, current) }
    guard !plugins.isEmpty, let path = try origin.pathForProbes(in: state) else { return }
    defer { if origin.remote != nil { try? FileManager.default.removeItem(atPath: path) } }
    for plugin in plugins {
      let report = PluginProbe(
        candidate.manifest, at: path, plugin: plugin, timeout: probe.timeout, executable: probe.executable,
        pins: candidate.releases?.pins(of: plugin.name), downloads: candidate.downloads.folder
      ).report()
      if let refusal = report.refusal { throw refusal }
      guard report.problems.isEmpty else {
        throw ManifestError(path: candidate.manifest.path, problems: candidate.manifest.placed(report.problems))
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
