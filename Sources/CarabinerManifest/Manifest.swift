package import Carabiner
package import CarabinerWire

/// What a host runs: the plugins, and in which order which stages stand.
package struct Manifest: Sendable, Equatable {
  /// How large a manifest's file may be, 1 MiB.
  package static let maximumFileBytes = 1 << 20

  /// The file it came from, or a name in the folder its relative paths start from.
  package var path = ""
  /// Where requests go unless the command line says otherwise; may hold references.
  package var endpoint: String?
  /// Header fields of every request unless the command line says otherwise; values may hold references.
  package var headers = HTTPHeaders()
  /// Limits and timeouts for the whole host.
  package var settings = Settings()
  /// What a gateway does with the requests of others.
  package var serve = Serve()
  /// The plugins, in the order they are declared.
  package var plugins: [Plugin] = [] {
    didSet {
      pluginIndex = Self.index(plugins)
      hasDisabledPlugins = plugins.contains { !$0.isEnabled }
      indexRules()
    }
  }
  /// How the built-in `max-retry` works.
  package var maxRetry = MaxRetryInterceptor.Configuration()
  /// What the built-in `persisted-queries` does; nothing unless it is enabled.
  package var persistedQueries = AutomaticPersistedQueryInterceptor.Configuration()
  /// Where the built-in `store` keeps records, and how.
  package var store = Store()
  /// The lists of the chain.
  package var lists = Lists() { didSet { indexRules() } }
  /// Other lists for some operations; of each list the first rule that matches and names it wins.
  package var rules: [Rule] = [] { didSet { indexRules() } }
  /// What is odd but does no harm.
  package var warnings: [ManifestProblem] = []

  /// The text it was read from; nil if it was put together in code.
  var text: ManifestText?
  package private(set) var ruleIndex = RuleIndex([], Lists()) { name, rule in
    StagePlan.Stage(name: name, origin: .builtIn, decision: nil, rule: rule)
  }
  private var pluginIndex: [String: Int] = [:]
  /// Known beforehand: it is asked for each plan, and plugins may be many.
  private(set) var hasDisabledPlugins = false

  /// A manifest that says nothing: the built-in chain.
  package init() {}

  /// The plugin of this name; nil if there is none.
  package func plugin(named name: String) -> Plugin? { pluginIndex[name].map { plugins[$0] } }

  private mutating func indexRules() { ruleIndex = RuleIndex(rules, lists) { stage($0, rule: $1) } }

  private static func index(_ plugins: [Plugin]) -> [String: Int] {
    Dictionary(plugins.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }
}

extension Manifest {
  /// One entry of `plugins`.
  package struct Plugin: Sendable, Hashable {
    /// What runs.
    package enum Source: Sendable, Hashable {
      /// A plugin library, and the SHA-256 it must have.
      case file(String, pin: String?)
      /// A declared call into an unmodified C library; its shape is checked where it is bound.
      case ffi(JSONValue)
    }

    /// Which services beyond log and timer a manifest may grant.
    package static let grantableServices: Set<String> = ["fetch", "store"]
    /// How many bytes of buffers a plugin may hold unless the manifest says otherwise, 256 MiB.
    package static let defaultBufferBytes = 256 << 20

    /// What lists call it.
    package var name: String
    package var source: Source
    /// Which of the library's interceptors; nil if it has only one.
    package var interceptor: String?
    /// What the plugin is given; may hold references.
    package var configuration: JSONValue = .object([:])
    /// Services beyond log and timer it may use.
    package var grants: Set<String> = []
    /// What its library may name in RPATH, RUNPATH and as paths in NEEDED.
    package var libraryPaths: Set<String> = []
    /// What becomes of a request in which the plugin broke the contract.
    package var onFault = FaultPolicy.fail
    /// How long one hook may stay pending.
    package var timeout: Duration?
    /// Whether clients of a gateway get the messages of its refusals.
    package var sendsMessagesToClients = false
    /// How many bytes of buffers it may hold at once.
    package var maximumBufferBytes = Self.defaultBufferBytes
    /// Whether no override may switch it off.
    package var isMandatory = false
    /// Whether it runs unless an override says otherwise.
    package var isEnabled = true
    /// Where it is declared.
    package var pointer: JSONPointer
  }

  /// A stage in a list.
  package struct Entry: Sendable, Hashable {
    package var name: String
    /// Stages that must come later in the list.
    package var before: [String] = []
    /// Stages that must come earlier in the list.
    package var after: [String] = []

    /// An entry, and what it says about its place.
    package init(name: String, before: [String] = [], after: [String] = []) {
      self.name = name
      self.before = before
      self.after = after
    }
  }

  /// The lists of a chain; nil leaves a list to the defaults.
  package struct Lists: Sendable, Hashable {
    private var entries: [StageList: [Entry]] = [:]

    /// No lists.
    package init() {}

    package subscript(list: StageList) -> [Entry]? {
      get { entries[list] }
      set { entries[list] = newValue }
    }
  }
}
