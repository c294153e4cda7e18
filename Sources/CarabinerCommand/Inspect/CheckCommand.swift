internal import ArgumentParser
internal import CarabinerBridge
internal import CarabinerDownloads
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerRelease
internal import CarabinerWire
internal import Foundation

/// `carabiner check`: checks a manifest with its plugins without running requests.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a manifest, its plugins and their configurations without running operations.",
    discussion: """
      Plugins are loaded in child processes, so one that crashes or hangs does not affect the check. Each problem is printed as
      FILE:LINE:COLUMN: error: /place: problem; remedy. Exit status: 0 without problems, else 3.

      With --trust, a plugin is loaded only if it is signed.

      Files must be owned by root or by the user that runs the gateway. Root can check as that user with --user.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @Option(name: [.customShort("m"), .long], help: "The manifest, YAML or JSON.") var manifest: String?
  @Option(name: .long, help: "text or json.") var format: Format = .text
  @Flag(name: .long, help: "Print the JSON Schema of manifests and exit.") var schema = false
  @Option(name: .long, help: ArgumentHelp("Check as this user, which runs the gateway. Only for root.", valueName: "name"))
  var user: String?
  @OptionGroup var probe: ProbeOptions
  @OptionGroup var trust: TrustOptions
  @OptionGroup var pluginCache: PluginCacheOptions

  func validate() throws {
    guard schema == (manifest == nil) else { throw ValidationError("give either -m MANIFEST or --schema") }
  }

  func run() async throws {
    guard let manifest else { return try Self.printSchema() }
    if let user { try CheckedUser.become(user) }
    let diagnostics = diagnostics(of: manifest)
    let errors = diagnostics.filter { $0.severity == .error }
    switch format {
    case .text:
      for diagnostic in diagnostics { Terminal.complain(diagnostic.text(path: manifest)) }
      Terminal.emit(errors.isEmpty ? "\(manifest): ok" : "\(manifest): refused, \(errors.count) to correct")
    case .json:
      let report: JSONValue = [
        "manifest": .string(manifest), "ok": .bool(errors.isEmpty), "problems": .array(errors.map(\.json)),
        "warnings": .array(diagnostics.filter { $0.severity == .warning }.map(\.json)),
      ]
      Terminal.emit(String(decoding: report.serialized(pretty: true), as: UTF8.self))
    }
    if !errors.isEmpty { throw ExitStatus.refused }
  }

  private static func printSchema() throws {
    Terminal.emit(String(decoding: try JSONValue(parsing: Manifest.schema).serialized(pretty: true), as: UTF8.self))
  }

  private func diagnostics(of path: String) -> [Diagnostic] {
    let loaded: Manifest
    var signatures: (check: ReleaseCheck, pins: ProbePins)?
    do {
      if let policy = trust.policy {
        let check = try ReleaseCheck(policy)
        let (manifest, file, _) = try check.manifest(at: path)
        loaded = manifest
        signatures = (check, ProbePins(manifest: file.digest))
      } else {
        loaded = try Manifest.load(path: path)
      }
    } catch let error as ManifestError {
      return error.problems.map { Diagnostic($0) }
    } catch let error as ReleaseError {
      return [Diagnostic(error)]
    } catch {
      return [Diagnostic(ManifestProblem(.unreadable, "\(error)"))]
    }
    let overrides = StageOverrides(environment: ProcessInfo.processInfo.environment)
    let isolation = IsolationOverrides(environment: ProcessInfo.processInfo.environment)
    let warnings =
      loaded.warnings + loaded.warnings(about: overrides) + loaded.warnings(about: isolation) + loaded.separatedFiles(isolation)
      + loaded.gatewayWarnings
    var found = warnings.map { Diagnostic($0, severity: .warning) }
    found += (loaded.refusals(of: overrides) + loaded.workerProblems(isolation)).map { Diagnostic($0) }
    found += loaded.problems(of: SecretReferences(directory: loaded.directory)).map { Diagnostic($0) }
    found += loaded.storeProblems().map { Diagnostic($0) }
    found += loaded.certificateProblems().map { Diagnostic($0) }
    found += loaded.operationListProblems().map { Diagnostic($0) }
    let downloads = pluginCache.downloads
    do {
      let downloaded = try downloads.files(of: loaded, needsSidecars: signatures != nil)
      defer { withExtendedLifetime(downloaded) {} }
      found += downloaded.warnings.map { Diagnostic($0, severity: .warning) }
      found += pluginProblems(of: loaded, downloaded, at: path, isolation, signatures?.check, signatures?.pins)
    } catch {
      found += ((error as? ManifestError)?.problems ?? [ManifestProblem(.downloadFailed, "\(error)")]).map { Diagnostic($0) }
      found += pluginProblems(of: loaded, DownloadedPlugins(), at: path, isolation, signatures?.check, signatures?.pins)
    }
    // A child process may find the same problems again.
    var seen: Set<Diagnostic> = []
    return Diagnostic.placed(found, in: loaded).filter { seen.insert($0).inserted }
  }

  /// Loads each plugin in a child process, then all valid plugins together in another, to find conflicts between them.
  ///
  /// - Parameters:
  ///   - downloaded: The files of plugins with URLs. Plugins whose files are missing are left out.
  ///   - check: Verifies their files; nil if signatures are not checked.
  ///   - pins: The digest of the manifest that was verified; nil if signatures are not checked.
  private func pluginProblems(
    of loaded: Manifest, _ downloaded: DownloadedPlugins, at path: String, _ isolation: IsolationOverrides,
    _ check: ReleaseCheck?, _ pins: ProbePins?
  ) -> [Diagnostic] {
    let local = downloaded.replacingURLs(in: loaded)
    var found: [Diagnostic] = []
    var refused: [String] = []
    var pins = pins
    for (plugin, there) in zip(loaded.plugins, local.plugins) {
      if case .url = there.source {
        refused.append(plugin.name)
        continue
      }
      if let check, case .file(let path, let pin) = there.source {
        do {
          let sidecar = downloaded.sidecars[plugin.name]
          pins?.plugins[plugin.name] = try check.plugin(there, at: path, pin: pin, sidecar: sidecar).digest
        } catch {
          // A gateway refuses the file of a disabled plugin too.
          found.append(Diagnostic(unverified: error, plugin))
          refused.append(plugin.name)
          continue
        }
      }
      let report = PluginProbe(
        loaded, at: path, plugin: there, timeout: probe.probeTimeout, pins: pins, downloads: downloaded.folder
      ).report()
      // A plugin may be disabled because it is broken, so its problems are only warnings.
      let severity: Diagnostic.Severity = plugin.isEnabled ? .error : .warning
      found += report.problems.map { Diagnostic($0, severity: severity) }
      if let refusal = report.refusal { found.append(Diagnostic(refusal, of: plugin, severity: severity)) }
      found += report.missingGrants.filter { $0.entry == plugin.name }.map { Diagnostic.missing(grant: $0.grant, of: plugin) }
      let warnings =
        workerWarnings(about: there, of: loaded, isolation, report, plugin.source.key)
        + reloadWarnings(about: there, of: loaded, isolation, plugin.source.key)
      found += warnings.map { Diagnostic($0, severity: .warning) }
      if report.refusal != nil || !report.problems.isEmpty { refused.append(plugin.name) }
    }
    let report = PluginProbe(
      loaded, at: path, without: refused, timeout: probe.probeTimeout, pins: pins, downloads: downloaded.folder
    ).report()
    found += report.problems.map { Diagnostic($0) }
    if let refusal = report.refusal { found.append(diagnostic(of: refusal, among: zip(loaded.plugins, local.plugins))) }
    return found
  }

  /// A refusal of one of several plugins, at the entry of its file.
  private func diagnostic(
    of refusal: HostError, among plugins: some Sequence<(Manifest.Plugin, Manifest.Plugin)>
  ) -> Diagnostic {
    for (plugin, there) in plugins {
      if case .file(refusal.path, _) = there.source { return Diagnostic(refusal, of: plugin) }
    }
    return Diagnostic(ManifestProblem(.invalidValue, refusal.message))
  }

  /// Warnings about a plugin whose file can be replaced a few times only, or not at all, while the gateway runs.
  private func reloadWarnings(
    about plugin: Manifest.Plugin, of loaded: Manifest, _ isolation: IsolationOverrides, _ key: String
  ) -> [ManifestProblem] {
    // A worker loads each file once.
    guard case .file(let path, _) = plugin.source, loaded.isolation(of: plugin, isolation) == .inProcess,
      let obstacles = try? ReloadObstacles(path: path)
    else { return [] }
    var warnings: [String] = []
    if obstacles.needsStaticThreadMemory {
      warnings.append(
        "has thread-local storage of the static model (DF_STATIC_TLS), for which a process has little room, so reloads refuse its file "
          + "after a few changes, until the gateway is restarted; \(ReloadObstacles.threadMemoryAdvice)")
    }
    if let symbol = obstacles.uniqueSymbol {
      warnings.append(
        "has symbols that are unique in the process (STB_GNU_UNIQUE), such as \(symbol), which it shares with other plugins and with "
          + "later versions of itself; \(ReloadObstacles.uniqueSymbolAdvice)")
    }
    return warnings.map { ManifestProblem(.reload, at: plugin.pointer.appending(key), "the plugin \(plugin.name) \($0)") }
  }

  /// Warnings about a plugin that runs in a worker and was probably written for the process of the host.
  ///
  /// - Parameter key: The key of the entry that names its file.
  private func workerWarnings(
    about plugin: Manifest.Plugin, of loaded: Manifest, _ isolation: IsolationOverrides, _ report: ProbeReport, _ key: String
  ) -> [ManifestProblem] {
    guard case .file(let path, _) = plugin.source, loaded.isolation(of: plugin, isolation) != .inProcess else { return [] }
    var warnings: [ManifestProblem] = []
    if let imports = try? RefusedImports.of(path: path), !imports.isEmpty {
      warnings.append(
        ManifestProblem(
          .isolation, at: plugin.pointer.appending(key),
          "the plugin \(plugin.name) imports \(imports.joined(separator: ", ")), which workers refuse; if it calls them, grant it fetch "
            + "for requests, or write isolation: in-process"))
    }
    if let isPerCall = report.isPerCall(plugin.interceptor),
      let warning = loaded.warning(about: plugin, isolation, isPerCall: isPerCall)
    {
      warnings.append(warning)
    }
    return warnings
  }
}
