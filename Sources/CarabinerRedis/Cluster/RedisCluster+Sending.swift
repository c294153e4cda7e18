internal import CarabinerRESP

/// Commands to the nodes of their slots. A redirect is followed once, within the same budget.
extension RedisCluster {
  /// Sends commands of one slot in one piece and waits for their answers.
  ///
  /// - Parameter isTransaction: Whether the commands are one transaction, from `MULTI` to `EXEC`.
  /// - Throws: ``RedisError`` as ``RedisClient/send(_:to:within:)``.
  func send(
    _ commands: CommandBatch, to slot: HashSlot, isTransaction: Bool, within budget: Duration
  ) async throws(RedisError) -> [Reply] {
    let deadline = ContinuousClock.now + budget
    let (node, pool) = try node(of: slot)
    let replies = try await pool.send(commands, within: budget)
    guard replies.contains(where: { $0.kind == .error }) else { return replies }
    let parts = (isTransaction ? [commands] : commands.commands).map { SlotCommands(slot: slot, commands: $0) }
    return try await followed(parts, replies, from: node, until: deadline)
  }

  /// Sends commands of several slots, one piece to each node, all at once.
  ///
  /// - Returns: For each part its answers, or why there are none.
  func send(_ parts: [SlotCommands], within budget: Duration) async -> [Result<[Reply], RedisError>] {
    let deadline = ContinuousClock.now + budget
    var results = Array(repeating: Result<[Reply], RedisError>.failure(.notConnected), count: parts.count)
    var groups: [RedisURL: (pool: LinkPool, places: [Int])] = [:]
    for (place, part) in parts.enumerated() {
      do throws(RedisError) {
        let (node, pool) = try node(of: part.slot)
        groups[node, default: (pool, [])].places.append(place)
      } catch {
        results[place] = .failure(error)
      }
    }
    await withTaskGroup(of: ([Int], Result<[Reply], RedisError>).self) { tasks in
      for (node, group) in groups {
        tasks.addTask {
          (group.places, await self.send(group.places.map { parts[$0] }, to: node, group.pool, until: deadline))
        }
      }
      for await (places, result) in tasks {
        switch result {
        case .success(let replies):
          var rest = replies[...]
          for place in places {
            results[place] = .success(Array(rest.prefix(parts[place].commands.count)))
            rest = rest.dropFirst(parts[place].commands.count)
          }
        case .failure: for place in places { results[place] = result }
        }
      }
    }
    return results
  }

  private func send(
    _ parts: [SlotCommands], to node: RedisURL, _ pool: LinkPool, until deadline: ContinuousClock.Instant
  ) async -> Result<[Reply], RedisError> {
    var all = CommandBatch(capacity: parts.reduce(0) { $0 + $1.commands.bytes.count })
    for part in parts { all.append(part.commands) }
    do throws(RedisError) {
      let replies = try await pool.send(all, within: deadline - .now)
      guard replies.contains(where: { $0.kind == .error }) else { return .success(replies) }
      return .success(try await followed(parts, replies, from: node, until: deadline))
    } catch {
      return .failure(error)
    }
  }

  // MARK: Redirects

  /// Sends only those parts again that were redirected: the others were run. Returns all answers.
  ///
  /// - Throws: ``RedisError`` if the only part cannot be sent again. One of several keeps its error.
  private func followed(
    _ parts: [SlotCommands], _ replies: [Reply], from node: RedisURL, until deadline: ContinuousClock.Instant
  ) async throws(RedisError) -> [Reply] {
    note(replies, from: node)
    var (answers, redirected): ([ArraySlice<Reply>], [Redirect: [Int]]) = ([], [:])
    var rest = replies[...]
    for (place, part) in parts.enumerated() {
      answers.append(rest.prefix(part.commands.count))
      rest = rest.dropFirst(part.commands.count)
      if let redirect = part.redirect(in: answers[place], from: node) { redirected[redirect, default: []].append(place) }
    }
    for (redirect, places) in redirected {
      do throws(RedisError) {
        guard var new = try await follow(redirect, places.map { parts[$0].commands }, until: deadline) else { continue }
        for place in places {
          answers[place] = new.prefix(parts[place].commands.count)
          new = new.dropFirst(parts[place].commands.count)
        }
      } catch {
        if parts.count == 1 { throw error }
      }
    }
    return answers.flatMap(\.self)
  }

  /// Sends commands to the node of a redirect. Returns their answers; nil if the redirect is not followed.
  private func follow(
    _ redirect: Redirect, _ batches: [CommandBatch], until deadline: ContinuousClock.Instant
  ) async throws(RedisError) -> ArraySlice<Reply>? {
    guard let pool = target(of: redirect) else { return nil }
    var all = CommandBatch()
    for batch in batches {
      // It counts for the next command, or for the transaction that the command begins.
      if redirect.isOnce { all.begin("ASKING", arguments: 0) }
      all.append(batch)
    }
    var rest = try await pool.send(all, within: deadline - .now)[...]
    note(rest, from: redirect.node)
    guard redirect.isOnce else { return rest }
    var answers: ArraySlice<Reply> = []
    for batch in batches {
      answers += rest.dropFirst().prefix(batch.count)
      rest = rest.dropFirst(1 + batch.count)
    }
    return answers
  }
}
