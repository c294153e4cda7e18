internal import CarabinerWire

/// The parts of a streamed answer, one after the other.
protocol PartSource: Sendable {
  /// The next part; nil after the last.
  mutating func next() async -> JSONValue?
}

/// A result whose deferred fragments come later.
struct DeferredParts: PartSource {
  private var first: JSONObject?
  private var executor: Executor

  /// - Parameter executor: Has given `first`, and keeps what is deferred.
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

/// The results of a countdown, as its schedule has them.
struct CountdownParts: PartSource {
  let library: Library
  let surroundings: RequestSurroundings
  let plan: RequestPlan
  var schedule: CountdownSchedule

  mutating func next() async -> JSONValue? {
    // Whoever shuts the server down does not wait for the end of a countdown.
    guard let step = schedule.next(), (try? await surroundings.pause(step.pause)) != nil else { return nil }
    switch step.event {
    case .heartbeat: return [:]
    case .failure:
      let problem = GraphQLProblem(message: "the countdown broke off", code: "COUNTDOWN_BROKE_OFF")
      return ["payload": nil, "errors": [problem.json]]
    case .number(let number):
      var executor = Executor(library: library, surroundings: surroundings)
      return ["payload": .object(await executor.result(of: plan, on: .countdown(number)))]
    }
  }
}
