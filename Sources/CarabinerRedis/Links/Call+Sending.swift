internal import CarabinerRESP

extension Call {
  /// Sends commands and waits for their answers.
  ///
  /// - Parameter submit: Passes the commands and the call to a connection.
  /// - Returns: An answer for each command, in their order. Errors of commands are answers too.
  static func send(
    _ commands: CommandBatch, within budget: Duration, _ counters: ClientCounters, _ submit: (Call) throws(RedisError) -> Void
  ) async throws(RedisError) -> [Reply] {
    precondition(commands.isComplete && commands.count > 0, "no commands")
    guard budget > .zero else { throw RedisError(.budgetExhausted, "the budget for Redis was used up before") }
    let call = Call()
    do throws(RedisError) {
      try submit(call)
      let replies = try await call.outcome().get()
      let errors = replies.count { $0.kind == .error }
      if errors < replies.count { counters.count(replies.count - errors, "ok") }
      if errors > 0 { counters.count(errors, "error") }
      return replies
    } catch {
      counters.count(commands.count, error.code.rawValue)
      throw error
    }
  }
}
