internal import CarabinerWire

/// The parts of a streamed response, in order.
protocol PartSource: Sendable {
  /// The next part; nil after the last.
  mutating func next() async -> JSONValue?
}

/// A result with deferred fragments.
struct DeferredParts: PartSource {
  private var first: JSONObject?
  private var executor: Executor

  /// - Parameter executor: The executor that returned `first`, with its deferred fragments.
  init(_ first: JSONObject, _ executor: Executor) {
    self.first = first
    self.executor = executor
  }

  mutating func next() async -> JSONValue? {
    if var initial = first {
      first = nil
      initial["hasNext"] = .bool(!executor.deferred.isEmpty)
      return .object(initial)
    }
    guard let part = await executor.nextPart() else { return nil }
    return ["incremental": [.object(part)], "hasNext": .bool(!executor.deferred.isEmpty)]
  }
}

/// The results of a countdown, timed by its schedule.
struct CountdownParts: PartSource {
  let library: Library
  let context: RequestContext
  let plan: RequestPlan
  var schedule: CountdownSchedule

  mutating func next() async -> JSONValue? {
    // The pause throws when the server shuts down, so the shutdown does not wait for the countdown.
    guard let step = schedule.next(), (try? await context.pause(step.pause)) != nil else { return nil }
    switch step.event {
    case .heartbeat: return [:]
    case .failure:
      let problem = GraphQLProblem(message: "the countdown broke off", code: "COUNTDOWN_BROKE_OFF")
      return ["payload": nil, "errors": [problem.json]]
    case .number(let number):
      var executor = Executor(library: library, context: context)
      return ["payload": .object(await executor.result(of: plan, on: .countdown(number)))]
    }
  }
}
