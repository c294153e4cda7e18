internal import CarabinerWire

/// One GraphQL request after authentication: planned, executed, and answered in a format that the client accepts.
struct GraphQLExchange: Sendable {
  let library: Library
  let acceptance: Acceptance
  let settings: DemoSite.Settings
  let context: RequestContext

  func reply(to document: String, with parameters: GraphQLParameters) async throws(RequestRefusal) -> DemoReply {
    let plan: RequestPlan
    do {
      plan = try RequestPlan(
        document: document, operationName: parameters.operationName, variables: parameters.variables, limits: settings.limits)
    } catch {
      return try whole(GraphQLProblem.response(error.problems), status: acceptance.format.requestErrorStatus)
    }
    guard plan.type == .query || !parameters.isGET else {
      throw RequestRefusal(405, "a \(plan.type) needs POST", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "POST"])
    }
    if plan.type == .subscription { return try subscription(plan) }
    var executor = Executor(
      library: library, context: context, defers: plan.isDeferred && acceptance.takesDeferred, limits: settings.limits)
    let result = await executor.result(of: plan, on: plan.type == .mutation ? .mutation : .query)
    return executor.deferred.isEmpty
      ? try whole(.object(result), status: 200) : streamed(DeferredParts(result, executor), "deferSpec=20220824")
  }

  private func whole(_ value: JSONValue, status: Int) throws(RequestRefusal) -> DemoReply {
    do {
      return DemoReply(status, acceptance.format.contentType, .whole(try acceptance.format.encode(value)))
    } catch {
      throw RequestRefusal(500, "the number \(error.lexeme) cannot be written in CBOR", code: "INTERNAL_SERVER_ERROR")
    }
  }

  // MARK: Parts

  private func streamed(_ source: some PartSource, _ specification: String) -> DemoReply {
    let writer = MultipartWriter(specification: specification)
    return DemoReply(200, writer.contentType, .streamed(MultipartBody(writer: writer, source: source)))
  }

  private func subscription(_ plan: RequestPlan) throws(RequestRefusal) -> DemoReply {
    guard acceptance.takesSubscription else {
      throw RequestRefusal(
        406, "a subscription is answered in parts only; accept multipart/mixed;subscriptionSpec=1.0", code: "NOT_ACCEPTABLE")
    }
    do {
      let schedule = try CountdownSchedule(plan, heartbeat: settings.heartbeat)
      return streamed(
        CountdownParts(library: library, context: context, plan: plan, schedule: schedule), "subscriptionSpec=1.0")
    } catch {
      return try whole(GraphQLProblem.response([error]), status: acceptance.format.requestErrorStatus)
    }
  }
}

extension CountdownSchedule {
  /// The schedule of a planned subscription.
  ///
  /// - Throws: A ``GraphQLProblem`` if an argument is out of range.
  fileprivate init(_ plan: RequestPlan, heartbeat: Duration) throws(GraphQLProblem) {
    guard let field = FieldGroups(plan.selections, for: "Subscription", includingDeferred: true).fields.first?.first else {
      throw GraphQLProblem(message: "the subscription has no field", code: "BAD_USER_INPUT")
    }
    let from = field.arguments["from"]?.int ?? 0
    let interval = field.arguments["everyMilliseconds"]?.int ?? 0
    guard (0...Self.highest).contains(from), (1...Self.longestInterval).contains(interval) else {
      throw GraphQLProblem(
        message: "from is 0 to \(Self.highest), and everyMilliseconds 1 to \(Self.longestInterval)", locations: [field.place],
        code: "BAD_USER_INPUT")
    }
    self.init(from: from, every: .milliseconds(interval), failAt: field.arguments["failAt"]?.int, heartbeat: heartbeat)
  }
}
