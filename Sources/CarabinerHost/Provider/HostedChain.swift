internal import CCarabiner
package import Carabiner
internal import CarabinerWire
internal import Synchronization

/// A manifest brought to life: libraries loaded, instances made, and an interceptor provider for every operation.
package final class HostedChain: InterceptorProvider {
  private enum Member: Sendable {
    case plugin(PluginInstance)
    case ffi(FFIStage)
  }

  private struct PlanKey: Hashable {
    let operationName: String?
    let type: GraphQLOperationType
  }

  private struct Binding: Hashable {
    let name: String
    let list: StageList
  }

  package let manifest: Manifest
  /// The libraries, by entry.
  package let libraries: [String: PluginLibrary]
  private let members: [String: Member]
  private let overrides: StageOverrides
  private let plans = Mutex<[PlanKey: CompiledPlan]>([:])
  private let bindings: [Binding: StageBinding]
  private let limits: PluginLimits

  /// How many operations' plans are remembered; names may come from outside.
  private static let maximumPlans = 4096

  /// Loads everything a manifest names.
  ///
  /// - Parameter store: What plugins get that are granted the store; it should be that of the client's transport.
  /// - Throws: ``ManifestError``, or ``LoadRefusal`` with the entry it is about.
  package init(
    _ manifest: Manifest, store: ApolloStore? = nil, overrides: StageOverrides = StageOverrides(nil)
  ) throws {
    let refusals = manifest.refusals(of: overrides)
    guard refusals.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(refusals)) }
    var problems: [ManifestProblem] = []
    var members: [String: Member] = [:]
    var libraries: [String: PluginLibrary] = [:]
    var bindings: [Binding: StageBinding] = [:]
    let secrets = SecretReferences(directory: manifest.directory)
    for plugin in manifest.plugins {
      do {
        switch plugin.source {
        case .ffi(let declaration):
          let pointer = plugin.pointer.appending("ffi")
          let function = try FFIFunction(FFIDeclaration(declaration, at: pointer), at: pointer)
          members[plugin.name] = .ffi(FFIStage(name: plugin.name, function: function))
        case .file(let path, let pin):
          let library = try PluginLibrary.load(path: path, pin: pin, mode: manifest.settings.staging)
          let interceptor = try library.interceptor(plugin.interceptor)
          let instance = try PluginInstance(
            interceptor, library: library,
            options: try Self.options(plugin, interceptor, secrets, store))
          libraries[plugin.name] = library
          members[plugin.name] = .plugin(instance)
          for list in StageList.allCases where interceptor.stages.contains(list.rawValue) {
            bindings[Binding(name: plugin.name, list: list)] = StageBinding(instance, list.kind)
          }
        }
      } catch let problem as ManifestProblem {
        problems.append(problem)
      } catch let violations as ConfigurationViolations {
        problems.append(contentsOf: violations.problems)
      }
    }
    self.manifest = manifest
    self.members = members
    self.libraries = libraries
    self.bindings = bindings
    self.overrides = overrides
    var limits = PluginLimits()
    limits.maximumRetries = manifest.settings.pluginRetries
    limits.cancelGrace = manifest.settings.cancelGrace
    self.limits = limits
    problems.append(contentsOf: Self.misplaced(manifest, members, bindings))
    guard problems.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(problems)) }
  }

  // MARK: Provider

  package func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    compiled(operation.operationName, operation.operationType).interceptors(for: operation, context: context)
  }

  /// The stages an operation passes.
  package func plan(_ operationName: String?, _ type: GraphQLOperationType) -> StagePlan {
    manifest.stagePlan(operationName: operationName, type: type, overrides: overrides)
  }

  private func compiled(_ operationName: String?, _ type: GraphQLOperationType) -> CompiledPlan {
    let key = PlanKey(operationName: operationName, type: type)
    if let known = plans.withLock({ $0[key] }) { return known }
    let plan = CompiledPlan(
      plan(operationName, type), manifest: manifest, limits: limits,
      binding: { bindings[Binding(name: $0, list: $1)] },
      ffi: { name in if case .ffi(let stage)? = members[name] { stage } else { nil } })
    plans.withLock { plans in
      if plans.count < Self.maximumPlans { plans[key] = plan }
    }
    return plan
  }

  // MARK: Bringing up

  private static func options(
    _ plugin: Manifest.Plugin, _ interceptor: PluginInterceptor, _ secrets: SecretReferences, _ store: ApolloStore?
  ) throws -> PluginInstance.Options {
    let pointer = plugin.pointer.appending("config")
    try check(plugin, interceptor, pointer)
    var options = PluginInstance.Options(name: plugin.name)
    // Secrets are filled in after the check, so that no message can show one.
    options.configuration = try secrets.resolve(plugin.configuration, at: pointer).description
    options.redaction = try secrets.redaction(of: plugin.configuration, at: pointer)
    options.grants = plugin.grants
    options.store = store
    options.skipsOnFault = plugin.skipsOnFault
    options.hookTimeout = plugin.timeout
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
  private static func misplaced(
    _ manifest: Manifest, _ members: [String: Member], _ bindings: [Binding: StageBinding]
  ) -> [ManifestProblem] {
    let all = [("chain", manifest.lists)] + manifest.rules.enumerated().map { ("rules/\($0)/chain", $1.lists) }
    return all.flatMap { place, lists in
      StageList.allCases.flatMap { list in
        (lists[list] ?? []).enumerated().compactMap { index, entry -> ManifestProblem? in
          let hasStage =
            switch members[entry.name] {
            case .plugin: bindings[Binding(name: entry.name, list: list)] != nil
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

/// What is wrong with one plugin's configuration.
private struct ConfigurationViolations: Error {
  let problems: [ManifestProblem]
}

extension StageList {
  fileprivate var kind: StageKind {
    switch self {
    case .graphql: .graphQL
    case .cache: .cache
    case .http: .http
    case .parsing: .parsing
    }
  }
}

extension Manifest {
  /// The folder the manifest's relative paths start from.
  package var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
}
