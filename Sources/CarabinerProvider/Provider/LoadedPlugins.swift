internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerFiles
internal import CarabinerManifest
internal import CarabinerWire
internal import CarabinerWorkers
internal import Logging

/// The loaded entries of a manifest: their libraries, instances, and stages in each list.
///
/// Entries are only added. A plugin that is switched off stays loaded. A plugin that was off at the start is loaded when it is
/// switched on.
struct LoadedPlugins: Sendable {
  private enum Member: Sendable {
    case plugin(PluginInstance)
    case ffi(FFIStage)
  }

  private struct Place: Hashable {
    let name: String
    let list: StageKind
  }

  /// Values that all entries of a chain share.
  struct Context: Sendable {
    /// Time and network for plugins.
    var environment: HostEnvironment
    var store: ApolloStore?
    /// The generation of the manifest.
    var generation: UInt64
    var board: BreakerRegistry
    var crashLoop: CrashLoopGuard?
    /// The plugins that the environment puts into workers.
    var isolation: IsolationOverrides
    /// The path of the program that starts workers; nil for the one of this host.
    var launcher: String?
  }

  private let context: Context
  /// The loaded libraries, by entry.
  private(set) var libraries: [String: PluginLibrary] = [:]
  private var members: [String: Member] = [:]
  /// The workers of plugins, by group.
  private(set) var workers: [String: WorkerGroup] = [:]
  private var bindings: [Place: StageBinding] = [:]
  /// The signatures of the files that plugins watch, from before their instances were created, by entry.
  private var watched: [String: [String: FileSignature]] = [:]

  /// The entries that are left out although they are switched on, and why.
  private(set) var leftOut: [String: StageDecision] = [:]
  private static let logger = Logger(label: "carabiner.host")

  init(_ context: Context) { self.context = context }

  /// Whether an entry is loaded.
  func contains(_ name: String) -> Bool { members[name] != nil }

  /// The files that plugins watch.
  var watchedFiles: [String] { watched.values.flatMap(\.keys) }

  /// The stage of a plugin in a list; nil for any other entry.
  func binding(_ name: String, _ list: StageKind) -> StageBinding? { bindings[Place(name: name, list: list)] }

  /// The stage of an `ffi` entry; nil for any other.
  func ffi(_ name: String) -> FFIStage? { if case .ffi(let stage)? = members[name] { stage } else { nil } }

  /// The instance of a plugin; nil for any other entry, or if it is not loaded.
  func instance(_ name: String) -> PluginInstance? { if case .plugin(let instance)? = members[name] { instance } else { nil } }

  /// Loads the entries that should run and are not loaded yet.
  ///
  /// - Parameters:
  ///   - predecessor: The entries these replace. A plugin keeps its instance if its file, its configuration and the files it
  ///     watches are unchanged.
  ///   - anew: Whether all instances are created again even if unchanged.
  ///   - isWanted: Whether an entry should run.
  /// - Throws: ``ManifestError``, or ``HostError`` with the entry.
  mutating func load(
    _ manifest: Manifest, replacing predecessor: LoadedPlugins? = nil, anew: Bool = false, _ isWanted: (Manifest.Plugin) -> Bool
  ) throws {
    leftOut = [:]
    var problems: [ManifestProblem] = []
    let secrets = SecretReferences(directory: manifest.directory)
    for plugin in manifest.plugins where !contains(plugin.name) && isWanted(plugin) {
      do {
        try load(plugin, manifest, secrets, predecessor, anew: anew)
      } catch let problem as ManifestProblem {
        problems.append(problem)
      } catch let violations as ConfigurationViolations {
        problems.append(contentsOf: violations.problems)
      }
    }
    problems.append(contentsOf: misplaced(manifest))
    guard problems.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(problems)) }
  }

  private mutating func load(
    _ plugin: Manifest.Plugin, _ manifest: Manifest, _ secrets: SecretReferences, _ predecessor: LoadedPlugins?, anew: Bool
  ) throws {
    switch plugin.source {
    case .ffi(let declaration):
      let pointer = plugin.pointer.appending("ffi")
      let dependencies = PluginDependencies(allowed: plugin.libraryPaths, mode: manifest.settings.staging)
      let function = try FFIFunction(
        FFIDeclaration(declaration, at: pointer), at: pointer, dependencies, directory: manifest.directory)
      members[plugin.name] = .ffi(FFIStage(name: plugin.name, function: function, generation: context.generation))
    case .url(let url, _):
      throw ManifestProblem(
        .downloadFailed, at: plugin.pointer.appending("url"),
        "the plugin \(plugin.name) was not downloaded from \(PrintableURL(url).withoutQuery); load the manifest again when its server answers, with a folder for downloads"
      )
    case .file(let path, let pin):
      let file = try PluginFile(opening: path)
      guard try mayRun(plugin, file) else { return }
      let library = try library(of: plugin, file, pin, manifest, predecessor, anew: anew)
      let interceptor = try library.interceptor(plugin.interceptor)
      var options = try Self.options(plugin, interceptor, secrets)
      options.breakerCoolDown = manifest.settings.breakerCoolDown
      options.environment = context.environment
      options.store = context.store
      options.generation = context.generation
      options.board = context.board
      let files = FileSignature.of(WatchedFiles.named(by: interceptor.configurationSchema, in: plugin.configuration))
      let instance: PluginInstance
      if !anew, predecessor?.watched[plugin.name] == files, let same = predecessor?.reusable(interceptor, library, options) {
        instance = same
      } else {
        instance = try PluginInstance(interceptor, library: library, options: options)
        predecessor?.handOver(to: instance)
      }
      watched[plugin.name] = files
      libraries[plugin.name] = library
      members[plugin.name] = .plugin(instance)
      for list in StageKind.allCases where interceptor.stages.contains(list.rawValue) {
        bindings[Place(name: plugin.name, list: list)] = StageBinding(instance, list)
      }
    }
  }

  /// Loads the library of an entry, in this process or in workers.
  private mutating func library(
    of plugin: Manifest.Plugin, _ file: PluginFile, _ pin: String?, _ manifest: Manifest, _ predecessor: LoadedPlugins?,
    anew: Bool
  ) throws -> PluginLibrary {
    guard let settings = manifest.isolation(of: plugin, context.isolation).worker else {
      let dependencies = PluginDependencies(allowed: plugin.libraryPaths, mode: manifest.settings.staging)
      return try PluginLibrary.load(file, pin: pin, dependencies, entry: plugin.name)
    }
    // A file that is refused starts no worker.
    _ = try PluginNote(of: file, pin: pin)
    if workers[settings.group]?.index(of: file.digest) == nil {
      workers[settings.group] = try group(of: plugin, file, settings, manifest, anew ? nil : predecessor)
    }
    guard let group = workers[settings.group], let index = group.index(of: file.digest) else {
      throw HostError(.changed, step: "read", path: file.path, "the file changed while it was loaded; load it again")
    }
    if let earlier = predecessor?.libraries[plugin.name], earlier.workers === group, earlier.digest == file.digest {
      return earlier
    }
    return try PluginLibrary(file, pin: pin, in: group, index)
  }

  /// The workers for the entries of a group.
  ///
  /// Those of the predecessor are kept if settings, files and configurations are the same. Otherwise all instances of the group get new
  /// workers: if their code crashes there, the old ones serve on.
  private func group(
    of plugin: Manifest.Plugin, _ file: PluginFile, _ settings: WorkerSettings, _ manifest: Manifest,
    _ predecessor: LoadedPlugins?
  ) throws -> WorkerGroup {
    let members = manifest.plugins.filter { manifest.isolation(of: $0, context.isolation).worker?.group == settings.group }
    var (settings, files): (WorkerSettings, [PluginFile]) = (settings, [])
    settings.readablePaths += LibraryFolders.readable(members.reduce(into: []) { $0.formUnion($1.libraryPaths) })
    for member in members {
      guard case .file(let path, let pin) = member.source else { continue }
      let own = member.name == plugin.name ? file : try PluginFile(opening: path)
      // The workers map the files of all members.
      try own.check(pin)
      try PluginDependencies(allowed: member.libraryPaths, mode: manifest.settings.staging).check(own)
      if !files.contains(where: { $0.digest == own.digest }) { files.append(own) }
    }
    if let earlier = predecessor?.workers[settings.group], earlier.isSame(as: settings, files.map(\.digest)),
      members.allSatisfy({ predecessor?.isConfigured(like: $0, manifest) ?? false })
    {
      return earlier
    }
    let ids = manifest.settings.workerUser.ids
    return try WorkerGroup(
      settings, files, user: ids.map { WorkerOwner(user: $0.user, group: $0.group) },
      coolDown: manifest.settings.breakerCoolDown, launcher: context.launcher)
  }

  /// Whether the instance of an entry has the configuration that the manifest gives it; true if there is no instance.
  private func isConfigured(like plugin: Manifest.Plugin, _ manifest: Manifest) -> Bool {
    guard let instance = instance(plugin.name) else { return true }
    let secrets = SecretReferences(directory: manifest.directory)
    let configuration = try? secrets.resolve(plugin.configuration, at: plugin.pointer).description
    return instance.options.configuration == configuration
  }

  /// The predecessor's instance of an entry if a new one would be identical; nil otherwise.
  private func reusable(
    _ interceptor: PluginInterceptor, _ library: PluginLibrary, _ options: PluginInstance.Options
  ) -> PluginInstance? {
    guard let instance = instance(options.name), libraries[options.name] === library, instance.id == interceptor.id,
      instance.options.isSame(as: options)
    else { return nil }
    return instance
  }

  /// Passes the state of the entry's earlier instance to the new one. If that fails, the new instance starts without it.
  private func handOver(to instance: PluginInstance) {
    guard let earlier = self.instance(instance.name), earlier.id == instance.id else { return }
    do {
      if let state = try earlier.state() { try instance.adopt(state: state) }
    } catch {
      Self.logger.warning(
        "the state of the earlier instance was not handed over", metadata: ["entry": "\(instance.name)", "reason": "\(error)"])
    }
  }

  /// Whether a plugin may run. A plugin that crashed the host too often is left out or, if the policy forbids that, refused.
  private mutating func mayRun(_ plugin: Manifest.Plugin, _ file: PluginFile) throws -> Bool {
    guard let crashLoop = context.crashLoop, let accusation = crashLoop.accusation(of: file.digest) else { return true }
    guard crashLoop.policy.then == .skip, !plugin.isMandatory else {
      let remedy = plugin.isMandatory ? "it is mandatory and is not left out" : "crash-loop: {then: skip} would leave it out"
      throw ManifestProblem(
        .crashLoop, at: plugin.pointer, "\(plugin.name) is not loaded: \(accusation); \(remedy); \(crashLoop.advice)")
    }
    Self.logger.critical(
      "plugin left out: \(accusation); \(crashLoop.advice)", metadata: ["entry": "\(plugin.name)", "file": "\(file.path)"])
    leftOut[plugin.name] = StageDecision(
      isEnabled: false, source: .crashLoop(crashes: crashLoop.crashes(of: file.digest), within: crashLoop.policy.within))
    return false
  }

  private static func options(
    _ plugin: Manifest.Plugin, _ interceptor: PluginInterceptor, _ secrets: SecretReferences
  ) throws -> PluginInstance.Options {
    let pointer = plugin.pointer.appending("config")
    try check(plugin, interceptor, pointer)
    var options = PluginInstance.Options(name: plugin.name)
    // Secrets are resolved after the check, so that no message can contain one.
    options.configuration = try secrets.resolve(plugin.configuration, at: pointer).description
    options.redaction = secrets.redaction(of: plugin.configuration)
    options.grants = plugin.grants
    options.onFault = plugin.onFault
    options.isMandatory = plugin.isMandatory
    options.hookTimeout = plugin.timeout
    options.sendsMessagesToClients = plugin.sendsMessagesToClients
    options.maximumBufferBytes = plugin.maximumBufferBytes
    return options
  }

  private static func check(
    _ plugin: Manifest.Plugin, _ interceptor: PluginInterceptor, _ pointer: JSONPointer
  ) throws {
    guard let text = interceptor.configurationSchema else {
      guard plugin.configuration == .object([:]) else {
        throw ManifestProblem(.schemaViolation, at: pointer, "the plugin \(plugin.name) takes no config; remove it")
      }
      return
    }
    let schema: CompiledSchema
    do {
      schema = try CompiledSchema(JSONValue(parsing: text))
    } catch {
      throw ManifestProblem(
        .schemaViolation, at: pointer,
        "the plugin \(plugin.name) has a config schema that cannot be used: \(error); ask its author")
    }
    let problems = schema.violations(in: plugin.configuration).map { violation in
      var place = pointer
      for component in violation.pointer.components { place = place.appending(component) }
      return ManifestProblem(.schemaViolation, at: place, "\(violation.message); see the plugin's documentation")
    }
    guard problems.isEmpty else { throw ConfigurationViolations(problems: problems) }
  }

  /// Entries in lists for which the plugin has no stage.
  private func misplaced(_ manifest: Manifest) -> [ManifestProblem] {
    let all = [("chain", manifest.lists)] + manifest.rules.enumerated().map { ("rules/\($0)/chain", $1.lists) }
    return all.flatMap { place, lists in
      StageKind.allCases.flatMap { list in
        (lists[list] ?? []).enumerated().compactMap { index, entry -> ManifestProblem? in
          let hasStage =
            switch members[entry.name] {
            case .plugin: binding(entry.name, list) != nil
            case .ffi: list == .http
            case nil: true
            }
          guard !hasStage else { return nil }
          return ManifestProblem(
            .unknownStage, at: JSONPointer("/\(place)/\(list.rawValue)/\(index)") ?? JSONPointer(),
            "the plugin \(entry.name) has no \(list.rawValue) stage; take it out of this list")
        }
      }
    }
  }
}

/// The problems of one plugin's configuration.
private struct ConfigurationViolations: Error {
  let problems: [ManifestProblem]
}
