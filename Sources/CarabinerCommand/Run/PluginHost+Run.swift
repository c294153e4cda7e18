internal import Carabiner
internal import CarabinerHost
internal import CarabinerServer

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

extension PluginHost {
  /// The time that calls have to end once all results are there.
  private static let endTime = Duration.seconds(2)

  /// Runs `body`, then shuts the host down and waits until plugins have seen the end of their calls, also after an error.
  func untilShutDown<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      let value = try await body()
      await end()
      return value
    } catch {
      await end()
      throw error
    }
  }

  private func end() async {
    await shutDown()
    await PluginCalls.haveEnded(within: Self.endTime)
  }
}
