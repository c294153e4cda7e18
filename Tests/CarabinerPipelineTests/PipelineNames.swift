import CarabinerPipeline

// Names of the 1.x generation for files that also need the core.

typealias Store1 = CarabinerPipeline.ApolloStore
typealias Policy1 = CarabinerPipeline.CachePolicy

/// A step with one of several outcomes.
func wrappedStep(_ outcome: String, _ log: Log) -> Step {
  Step { call in
    log.note(outcome)
    switch outcome {
    case "fail": call.fail(Fault("failed"))
    case "give":
      let value = GraphQLResult<JSONValue>(
        data: ["given": 1], extensions: nil, errors: nil, source: .cache, dependentKeys: nil)
      call.chain.returnValueAsync(for: call.request, value: value, completion: call.completion)
    case "retry": call.retry()
    default: break
    }
  }
}
