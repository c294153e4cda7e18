internal import Carabiner

/// A plan with everything looked up: what is left to do for a request is to make the interceptors that keep its state.
final class CompiledPlan: Sendable {
  private enum GraphQLMember: Sendable {
    case interceptor(any GraphQLInterceptor)
    case persistedQueries(AutomaticPersistedQueryInterceptor.Configuration)
    case plugins(StageRow)
  }

  private enum HTTPMember: Sendable {
    case interceptor(any HTTPInterceptor)
    case plugins(StageRow)
  }

  private let graphQL: [GraphQLMember]
  private let http: [HTTPMember]
  private let caches: [CachePluginRun.Entry]
  private let cacheRow: StageRow
  private let parsers: [ParserPluginRun.Entry]
  private let parserRow: StageRow
  /// What serves every request as it is; nil if some interceptor keeps the state of one.
  private let shared: RequestInterceptors?
  private let limits: PluginLimits

  /// - Parameters:
  ///   - binding: The stage a plugin has in a list; nil for a built-in.
  ///   - ffi: The interceptor of an `ffi` entry; nil for any other.
  init(
    _ plan: StagePlan, manifest: Manifest, limits: PluginLimits, binding: (String, StageList) -> StageBinding?,
    ffi: (String) -> FFIInterceptor?
  ) {
    self.limits = limits
    graphQL = Self.rows(
      plan.active(.graphql), .graphQL, binding: { binding($0, .graphql) }, plugins: { .plugins($0) },
      builtIn: { name in
        switch name {
        case "max-retry": .interceptor(MaxRetryInterceptor(configuration: manifest.maxRetry))
        // Switched off, the interceptor lets everything pass.
        case "persisted-queries" where manifest.persistedQueries.isEnabled: .persistedQueries(manifest.persistedQueries)
        default: nil
        }
      })
    http = Self.rows(
      plan.active(.http), .http, binding: { binding($0, .http) }, plugins: { .plugins($0) },
      builtIn: { name in
        if name == "response-code" { return .interceptor(ResponseCodeInterceptor()) }
        return ffi(name).map { .interceptor($0) }
      })
    (caches, cacheRow) = Self.entries(
      plan.active(.cache), .cache, binding: { binding($0, .cache) }, plugin: { .plugin($0) },
      builtIn: {
        $0 == "store" ? .store(DefaultCacheInterceptor(storesResultsWithErrors: manifest.store.keepsResultsWithErrors)) : nil
      })
    (parsers, parserRow) = Self.entries(
      plan.active(.parsing), .parsing, binding: { binding($0, .parsing) }, plugin: { .plugin($0) },
      builtIn: { name in
        guard name == "json" else { return nil }
        let limits = ResponseLimits(
          maximumPartBytes: manifest.settings.maximumPartBytes, idleTimeout: manifest.settings.idleTimeout)
        return .json(JSONResponseParsingInterceptor(limits: limits))
      })
    shared = Self.stateless(graphQL, http, caches, parsers)
  }

  /// Interceptors for one request.
  func interceptors<Operation: GraphQLOperation>(for operation: Operation, context: RequestContext) -> RequestInterceptors {
    if let shared { return shared }
    let call = PluginCall(
      context: context, operationName: operation.operationName, operationType: operation.operationType, limits: limits)
    return RequestInterceptors(
      graphQL: graphQL.map { member in
        switch member {
        case .interceptor(let interceptor): interceptor
        case .persistedQueries(let configuration): AutomaticPersistedQueryInterceptor(configuration: configuration)
        case .plugins(let row): GraphQLPluginRun(row, call: call)
        }
      },
      cache: cache(call),
      http: http.map { member in
        switch member {
        case .interceptor(let interceptor): interceptor
        case .plugins(let row): HTTPPluginRun(row, call: call)
        }
      },
      parser: parser(call))
  }

  private static func stateless(
    _ graphQL: [GraphQLMember], _ http: [HTTPMember], _ caches: [CachePluginRun.Entry], _ parsers: [ParserPluginRun.Entry]
  ) -> RequestInterceptors? {
    var graphQLInterceptors: [any GraphQLInterceptor] = []
    for member in graphQL {
      guard case .interceptor(let interceptor) = member else { return nil }
      graphQLInterceptors.append(interceptor)
    }
    var httpInterceptors: [any HTTPInterceptor] = []
    for member in http {
      guard case .interceptor(let interceptor) = member else { return nil }
      httpInterceptors.append(interceptor)
    }
    guard caches.count == 1, case .store(let cache) = caches[0], parsers.count == 1, case .json(let parser) = parsers[0] else {
      return nil
    }
    return RequestInterceptors(graphQL: graphQLInterceptors, cache: cache, http: httpInterceptors, parser: parser)
  }

  private func cache(_ call: PluginCall) -> any CacheInterceptor {
    if caches.count == 1, case .store(let cache) = caches[0] { return cache }
    return CachePluginRun(caches, cacheRow, call: call)
  }

  private func parser(_ call: PluginCall) -> any ResponseParsingInterceptor {
    if parsers.count == 1, case .json(let parser) = parsers[0] { return parser }
    return ParserPluginRun(parsers, parserRow, call: call)
  }

  // MARK: Looking up

  /// The members of a list, with plugins that stand side by side in one row.
  private static func rows<Member>(
    _ stages: [StagePlan.Stage], _ kind: StageKind, binding: (String) -> StageBinding?, plugins: (StageRow) -> Member,
    builtIn: (String) -> Member?
  ) -> [Member] {
    var members: [Member] = []
    var row: [StageBinding] = []
    func closeRow() {
      if !row.isEmpty { members.append(plugins(StageRow(kind, row))) }
      row = []
    }
    for stage in stages {
      if let plugin = binding(stage.name) {
        row.append(plugin)
      } else if let member = builtIn(stage.name) {
        closeRow()
        members.append(member)
      }
    }
    closeRow()
    return members
  }

  /// The entries of a list that is asked one by one, with all its plugins in one row.
  private static func entries<Entry>(
    _ stages: [StagePlan.Stage], _ kind: StageKind, binding: (String) -> StageBinding?, plugin: (Int) -> Entry,
    builtIn: (String) -> Entry?
  ) -> ([Entry], StageRow) {
    var entries: [Entry] = []
    var row: [StageBinding] = []
    for stage in stages {
      if let found = binding(stage.name) {
        entries.append(plugin(row.count))
        row.append(found)
      } else if let entry = builtIn(stage.name) {
        entries.append(entry)
      }
    }
    return (entries, StageRow(kind, row))
  }
}
