package import Carabiner
package import CarabinerABI
package import CarabinerFleet
package import CarabinerWire

/// The configuration of a host: its plugins and the order of the stages.
package struct Manifest: Sendable, Equatable {
  /// The largest manifest file in bytes, 1 MiB.
  package static let maximumFileBytes = 1 << 20

  /// The path of the manifest. Relative paths in the manifest start from its folder.
  package var path = ""
  /// The protocol of calls. It decides which lists and stages exist.
  package var callProtocol = CallProtocol.graphQL { didSet { indexRules() } }
  /// The settings of Connect and gRPC-Web calls.
  package var connect = Connect()
  /// The URL of the upstream; may contain references. The command line overrides it.
  package var endpoint: String?
  /// Headers of every request to the upstream; values may contain references. The command line overrides them.
  package var headers = HTTPHeaders()
  /// The upstreams, in the order of the manifest. `main` is missing if ``endpoint`` or the command line names its endpoint.
  package var upstreams: [Upstream] = []
  /// Limits and timeouts for the whole host.
  package var settings = Settings()
  /// The settings of a gateway.
  package var serve = Serve()
  /// How the manifest is rolled out to a fleet; nil without the key `fleet`.
  package var fleet: RolloutPlan?
  /// The plugins, in the order they are declared.
  package var plugins: [Plugin] = [] {
    didSet {
      pluginIndex = Self.index(plugins)
      hasDisabledPlugins = plugins.contains { !$0.isEnabled }
      indexRules()
    }
  }
  /// Headers and certificate authorities of requests for plugin files.
  package var downloads: [Download] = []
  /// The settings of the built-in `max-retry`.
  package var maxRetry = MaxRetryInterceptor.Configuration()
  /// The settings of the built-in `persisted-queries`, which does nothing unless it is enabled.
  package var persistedQueries = AutomaticPersistedQueryInterceptor.Configuration()
  /// The settings of the built-in `store`.
  package var store = Store()
  /// The lists of the chain.
  package var lists = Lists() { didSet { indexRules() } }
  /// Lists and settings for some operations that replace those of the chain. Each list and setting is taken from the first rule that
  /// matches and has it.
  package var rules: [Rule] = [] { didSet { indexRules() } }
  /// Problems that do not prevent the use of the manifest.
  package var warnings: [ManifestProblem] = []

  /// The text that the manifest was read from; nil if it was built in code.
  var text: ManifestText?
  package private(set) var ruleIndex = RuleIndex([], Lists(), defaults: \.builtIns) { name, rule in
    StagePlan.Stage(name: name, origin: .builtIn, decision: nil, rule: rule)
  }
  private var pluginIndex: [String: Int] = [:]
  /// Whether a plugin is disabled. It is stored, because each plan reads it and there may be many plugins.
  private(set) var hasDisabledPlugins = false

  /// An empty manifest: the built-in chain.
  package init() {}

  /// The plugin with this name; nil if there is none.
  package func plugin(named name: String) -> Plugin? { pluginIndex[name].map { plugins[$0] } }

  private mutating func indexRules() {
    let callProtocol = callProtocol
    ruleIndex = RuleIndex(
      rules, lists, defaults: { callProtocol == .graphQL ? $0.builtIns : [] }, stage: { stage($0, rule: $1) })
  }

  private static func index(_ plugins: [Plugin]) -> [String: Int] {
    Dictionary(plugins.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }
}

extension Manifest {
  /// One entry of `plugins`.
  package struct Plugin: Sendable, Hashable {
    /// The code that runs.
    package enum Source: Sendable, Hashable {
      /// A plugin library, and the SHA-256 that it must have if it is pinned.
      case file(String, pin: String?)
      /// A plugin library that is downloaded, and the SHA-256 that it must have.
      case url(String, pin: String)
      /// A declared call into an unmodified C library. The declaration is checked when the call is bound.
      case ffi(JSONValue)

      /// The key of the entry that names it.
      package var key: String {
        switch self {
        case .file: "file"
        case .url: "url"
        case .ffi: "ffi"
        }
      }

      /// Whether it is a plugin library.
      package var isLibrary: Bool { if case .ffi = self { false } else { true } }
    }

    /// The services beyond log and timer that a manifest may grant.
    package static let grantableServices: Set<String> = ["fetch", "store"]
    /// The default of ``maximumBufferBytes``, 256 MiB.
    package static let defaultBufferBytes = 256 << 20

    /// The name in lists.
    package var name: String
    package var source: Source
    /// The id of the interceptor in the library; nil if the library has only one.
    package var interceptor: String?
    /// The configuration of the plugin; may contain references.
    package var configuration: JSONValue = .object([:])
    /// The services beyond log and timer that the plugin may use.
    package var grants: Set<String> = []
    /// The entries that the library may have in RPATH and RUNPATH, and as paths in NEEDED.
    package var libraryPaths: Set<String> = []
    /// The effect of a fault on a request.
    package var onFault = FaultPolicy.fail
    /// The longest time that one hook may be pending; nil for no limit.
    package var timeout: Duration?
    /// Whether clients of a gateway receive the messages of the plugin's rejections.
    package var sendsMessagesToClients = false
    /// The most bytes of buffers that the plugin may hold at once.
    package var maximumBufferBytes = Self.defaultBufferBytes
    /// Whether overrides cannot disable the plugin.
    package var isMandatory = false
    /// Whether the plugin runs if there is no override for it.
    package var isEnabled = true
    /// The process that the plugin runs in. ``Manifest/isolation(of:_:)`` also respects the environment.
    package var isolation = Isolation.inProcess
    /// The place of the entry in the manifest.
    package var pointer: JSONPointer
  }

  /// A stage in a list.
  package struct Entry: Sendable, Hashable {
    package var name: String
    /// Stages that must come later in the list.
    package var before: [String] = []
    /// Stages that must come earlier in the list.
    package var after: [String] = []

    /// An entry with its order constraints.
    package init(name: String, before: [String] = [], after: [String] = []) {
      self.name = name
      self.before = before
      self.after = after
    }
  }

  /// The lists of a chain; nil leaves a list to the defaults.
  package struct Lists: Sendable, Hashable {
    private var entries: [StageKind: [Entry]] = [:]

    /// No lists.
    package init() {}

    package subscript(list: StageKind) -> [Entry]? {
      get { entries[list] }
      set { entries[list] = newValue }
    }
  }
}
