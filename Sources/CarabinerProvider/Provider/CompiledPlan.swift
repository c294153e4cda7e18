internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest

/// A plan with all names resolved. Per request, only the interceptors that keep state are created.
final class CompiledPlan: Sendable {
  private enum GraphQLMember: Sendable {
    case interceptor(any GraphQLInterceptor)
    case plugins(PluginStageGroup)
  }

  private enum HTTPMember: Sendable {
    case interceptor(any HTTPInterceptor)
    case ffi([FFIStage])
    case plugins(PluginStageGroup)
  }

  /// The GraphQL interceptors, with any interceptor in the places of ``pluginPlaces``.
  private let graphQL: [any GraphQLInterceptor]
  /// The plugins among the GraphQL interceptors. Each request has interceptors of its own for them.
  private let pluginPlaces: [(place: Int, group: PluginStageGroup)]
  private let http: [HTTPMember]
  private let caches: [CachePluginRun.Entry]
  private let cacheRow: PluginStageGroup
  private let parsers: [ParserPluginRun.Entry]
  private let parserRow: PluginStageGroup
  private let acceptedMediaTypes: AcceptedMediaTypes?
  /// The interceptors that all requests share. Lists with state are empty or have defaults here.
  private let shared: RequestInterceptors
  /// The same for requests whose caller takes a body that is passed on, if no stage reads results.
  private let passing: RequestInterceptors
  /// The lists whose interceptors are created for each request.
  private let keepsState: StageMap<Bool>
  private let keepsAnyState: Bool
  private let limits: PluginLimits

  /// Resolves the names of a plan.
  ///
  /// - Parameters:
  ///   - binding: The stage a plugin has in a list; nil for a built-in.
  ///   - ffi: The stage of an `ffi` entry; nil for any other.
  ///   - passesGraphQLErrors: Whether the built-in `response-code` accepts GraphQL errors with a status of 400 to 499.
  init(
    _ plan: StagePlan, manifest: Manifest, limits: PluginLimits, passesGraphQLErrors: Bool,
    binding: (String, StageKind) -> StageBinding?,
    ffi: (String) -> FFIStage?
  ) {
    self.limits = limits
    let members: [GraphQLMember] = Self.rows(
      plan.active(.graphQL), .graphQL, binding: { binding($0, .graphQL) }, plugins: { .plugins($0) },
      builtIn: { name in
        switch name {
        case "max-retry": .interceptor(MaxRetryInterceptor(configuration: manifest.maxRetry))
        // A disabled interceptor would do nothing but separate the plugins before it from those after it.
        case "persisted-queries" where manifest.persistedQueries.isEnabled:
          .interceptor(AutomaticPersistedQueryInterceptor(configuration: manifest.persistedQueries))
        default: nil
        }
      })
    http = Self.joined(
      Self.rows(
        plan.active(.http), .http, binding: { binding($0, .http) }, plugins: { .plugins($0) },
        builtIn: { name in
          if name == "response-code" { return .interceptor(ResponseCodeInterceptor(passesGraphQLErrors: passesGraphQLErrors)) }
          return ffi(name).map { .ffi([$0]) }
        }))
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
          maximumPartBytes: manifest.settings.maximumPartBytes, maximumMergedBytes: manifest.settings.maximumBodyBytes,
          idleTimeout: manifest.settings.idleTimeout)
        return .json(JSONResponseParsingInterceptor(limits: limits))
      })
    acceptedMediaTypes = ParserPluginRun.acceptedMediaTypes(of: parsers, parserRow)
    graphQL = members.map { if case .interceptor(let interceptor) = $0 { interceptor } else { MaxRetryInterceptor() } }
    pluginPlaces = members.enumerated().compactMap { place, member in
      if case .plugins(let group) = member { (place, group) } else { nil }
    }
    let sharedGraphQL = pluginPlaces.isEmpty ? graphQL : nil
    let sharedCache = Self.shared(caches)
    let sharedHTTP = Self.all(http) { member in
      switch member {
      case .interceptor(let interceptor): interceptor
      case .ffi(let stages): FFIRun(stages: stages)
      case .plugins: nil
      }
    }
    let sharedParser = Self.shared(parsers)
    shared = RequestInterceptors(
      graphQL: sharedGraphQL ?? [], cache: sharedCache ?? NoCache(), http: sharedHTTP ?? [],
      parser: sharedParser ?? JSONResponseParsingInterceptor())
    let rows = pluginPlaces.map(\.group)
    let takesResults = rows.contains(where: \.hasResultHooks) || plan.active(.graphQL).contains { $0.name == "persisted-queries" }
    let readsChunks = http.contains { if case .plugins(let row) = $0 { row.seesChunks } else { false } }
    passing = rows.contains(where: \.seesResults) || readsChunks ? shared : shared.passing(results: !takesResults)
    let keepsState = StageMap { list in
      switch list {
      case .graphQL: sharedGraphQL == nil
      case .cache: sharedCache == nil
      case .http: sharedHTTP == nil
      case .parsing: sharedParser == nil
      }
    }
    self.keepsState = keepsState
    keepsAnyState = StageKind.allCases.contains { keepsState[$0] }
  }

  /// The interceptors of one request.
  ///
  /// - Parameter probes: The plugins whose circuit breakers are open and that this request tries again.
  func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext, probes: [CircuitBreaker.Probe] = []
  ) -> RequestInterceptors {
    // A trace has a span for each C function, so each gets an interceptor of its own.
    let isTraced = context.isTraced
    // The trace of a subscription has each result.
    let isWatched = isTraced && operation.operationType == .subscription
    let shared = context.takesPassedBody && !isWatched ? passing : shared
    guard keepsAnyState || isTraced else { return shared }
    let call = PluginCall(
      context: context, operationName: operation.operationName, operationType: operation.operationType, limits: limits,
      probes: probes)
    var graphQL = graphQL
    for (place, group) in pluginPlaces { graphQL[place] = GraphQLPluginRun(group, call: call) }
    return RequestInterceptors(
      graphQL: graphQL, cache: keepsState[.cache] ? CachePluginRun(caches, cacheRow, call: call) : shared.cache,
      http: keepsState[.http] || isTraced ? http.flatMap { interceptors($0, call) } : shared.http,
      parser: keepsState[.parsing]
        ? ParserPluginRun(parsers, parserRow, accepting: acceptedMediaTypes, call: call) : shared.parser)
  }

  private func interceptors(_ member: HTTPMember, _ call: PluginCall) -> [any HTTPInterceptor] {
    switch member {
    case .interceptor(let interceptor): [interceptor]
    case .ffi(let stages): call.isTraced ? stages.map { FFIRun(stages: [$0]) } : [FFIRun(stages: stages)]
    case .plugins(let row): [HTTPPluginRun(row, call: call)]
    }
  }

  /// The members, with adjacent C functions joined into one member.
  private static func joined(_ members: [HTTPMember]) -> [HTTPMember] {
    members.reduce(into: []) { joined, member in
      guard case .ffi(let stages) = member, case .ffi(let earlier)? = joined.last else { return joined.append(member) }
      joined[joined.count - 1] = .ffi(earlier + stages)
    }
  }

  // MARK: Shared interceptors

  /// The interceptors of all members; nil if one of them has none that requests can share.
  private static func all<Member, Interceptor>(
    _ members: [Member], _ interceptor: (Member) -> Interceptor?
  ) -> [Interceptor]? {
    let interceptors = members.compactMap(interceptor)
    return interceptors.count == members.count ? interceptors : nil
  }

  private static func shared(_ caches: [CachePluginRun.Entry]) -> (any CacheInterceptor)? {
    if caches.isEmpty { return NoCache() }
    if caches.count == 1, case .store(let cache) = caches[0] { return cache }
    return nil
  }

  private static func shared(_ parsers: [ParserPluginRun.Entry]) -> (any ResponseParsingInterceptor)? {
    if parsers.count == 1, case .json(let parser) = parsers[0] { return parser }
    return nil
  }

  // MARK: Looking up

  /// The members of a list, with adjacent plugins joined into one row.
  private static func rows<Member>(
    _ stages: [StagePlan.Stage], _ kind: StageKind, binding: (String) -> StageBinding?, plugins: (PluginStageGroup) -> Member,
    builtIn: (String) -> Member?
  ) -> [Member] {
    var members: [Member] = []
    var row: [StageBinding] = []
    func closeRow() {
      if !row.isEmpty { members.append(plugins(PluginStageGroup(kind, row))) }
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

  /// The entries of a list that are called one by one, with all its plugins in one row.
  private static func entries<Entry>(
    _ stages: [StagePlan.Stage], _ kind: StageKind, binding: (String) -> StageBinding?, plugin: (Int) -> Entry,
    builtIn: (String) -> Entry?
  ) -> ([Entry], PluginStageGroup) {
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
    return (entries, PluginStageGroup(kind, row))
  }
}

extension RequestInterceptors {
  /// The same, with a parser that passes bodies on.
  ///
  /// - Parameter results: Whether it passes on the results of subscriptions too.
  fileprivate func passing(results: Bool) -> Self {
    guard let parser = parser as? JSONResponseParsingInterceptor else { return self }
    var passing = self
    passing.parser = JSONResponseParsingInterceptor(limits: parser.limits, passesBodies: true, passesResults: results)
    return passing
  }
}
