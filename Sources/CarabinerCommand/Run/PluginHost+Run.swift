internal import Carabiner
internal import CarabinerHost

extension ApolloClient {
  /// Runs an operation. Files are uploaded as its variables.
  func results(
    of operation: DynamicOperation, _ files: [GraphQLFile], cachePolicy: CachePolicy, tracer: (any ChainTracer)?
  ) throws -> PullStream<GraphQLResponse<DynamicOperation>> {
    let configuration = RequestConfiguration(tracer: tracer)
    guard files.isEmpty else { return try results(of: operation, uploading: files, configuration: configuration) }
    return try results(of: operation, cachePolicy: cachePolicy, configuration: configuration)
  }
}

extension PluginHost.Configuration {
  /// The configuration of a command that runs one operation: the manifest is read once and never compared, and crashes are not counted.
  static func once(_ trust: TrustOptions, _ pluginCache: PluginCacheOptions) -> Self {
    var configuration = Self()
    configuration.pinsFiles = false
    configuration.trust = trust.policy
    pluginCache.configure(&configuration)
    configuration.countsCrashes = false
    configuration.timingInterval = 0
    configuration.secrets = Terminal.secrets
    configuration.warning = { Terminal.complain("warning: \($0)") }
    return configuration
  }
}

extension PluginHost {
  /// Runs `body`, then shuts the host down, also after an error.
  func untilShutDown<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      let value = try await body()
      await shutDown()
      return value
    } catch {
      await shutDown()
      throw error
    }
  }
}
