internal import CarabinerRESP

/// Commands to the node of their slot. A redirect is followed once, within the same budget.
extension RedisCluster {
  /// Sends commands of one slot in one piece and waits for their answers.
  ///
  /// - Parameters:
  ///   - isTransaction: Whether the commands are one transaction, from `MULTI` to `EXEC`.
  /// - Throws: ``RedisError`` as ``RedisClient/send(_:to:within:)``.
  func send(
    _ commands: CommandBatch, to slot: HashSlot, isTransaction: Bool, within budget: Duration
  ) async throws(RedisError) -> [Reply] {
    let deadline = ContinuousClock.now + budget
    let (node, pool) = try node(of: slot)
    let replies = try await pool.send(commands, within: budget)
    guard replies.contains(where: { $0.kind == .error }) else { return replies }
    note(replies)
    let redirects = replies.map { reply in Redirect(reply, from: node).flatMap { $0.slot == slot ? $0 : nil } }
    guard isTransaction || commands.count == 1 else {
      return await followed(commands, replies, redirects, until: deadline)
    }
    // If EXEC was not refused, all commands were run.
    guard replies.last?.kind == .error, let redirect = redirects.lazy.compactMap(\.self).first,
      let answers = try await follow(redirect, [commands], until: deadline)
    else { return replies }
    return answers
  }

  /// Sends only those commands again that were redirected: the others were run. Returns all answers.
  private func followed(
    _ commands: CommandBatch, _ first: [Reply], _ redirects: [Redirect?], until deadline: ContinuousClock.Instant
  ) async -> [Reply] {
    var (replies, rest) = (first, redirects)
    let parts = commands.commands
    while let redirect = rest.lazy.compactMap(\.self).first {
      let places = rest.indices.filter { rest[$0] == redirect }
      for place in places { rest[place] = nil }
      // A command that cannot be sent again keeps its error.
      let answers = try? await follow(redirect, places.map { parts[$0] }, until: deadline)
      for (place, answer) in zip(places, answers ?? []) { replies[place] = answer }
    }
    return replies
  }

  /// Sends commands to the node of a redirect. Returns their answers; nil if the redirect is not followed.
  private func follow(
    _ redirect: Redirect, _ batches: [CommandBatch], until deadline: ContinuousClock.Instant
  ) async throws(RedisError) -> [Reply]? {
    guard let pool = target(of: redirect) else { return nil }
    var all = CommandBatch()
    for batch in batches {
      // It counts for the next command, or for the transaction that the command begins.
      if redirect.isOnce { all.begin("ASKING", arguments: 0) }
      all.append(batch)
    }
    var rest = try await pool.send(all, within: deadline - .now)[...]
    guard redirect.isOnce else {
      note(Array(rest))
      return Array(rest)
    }
    var answers: [Reply] = []
    for batch in batches {
      answers += rest.dropFirst().prefix(batch.count)
      rest = rest.dropFirst(1 + batch.count)
    }
    note(answers)
    return answers
  }
}
