internal import CarabinerRESP

/// Commands between `MULTI` and `EXEC`.
enum Transaction {
  /// Runs commands as a transaction, which is sent in one piece. Returns an answer for each command.
  ///
  /// - Parameters:
  ///   - inCluster: Whether a temporary refusal has the code `unavailable`, for example while slots are moved.
  ///   - send: Sends commands and returns an answer for each.
  /// - Throws: The error of `send`; ``RedisError`` with code `transactionRefused` if the server refused a command, or `conflict` if
  ///   a watched key was changed.
  static func run(
    _ commands: CommandBatch, inCluster: Bool = false, _ send: (CommandBatch) async throws(RedisError) -> [Reply]
  ) async throws(RedisError) -> [Reply] {
    try result(of: try await send(wrapped(commands)), commands.count, inCluster: inCluster)
  }

  /// Commands with `MULTI` before them and `EXEC` after them.
  static func wrapped(_ commands: CommandBatch) -> CommandBatch {
    var all = CommandBatch(capacity: commands.bytes.count + 32)
    all.begin("MULTI", arguments: 0)
    all.append(commands)
    all.begin("EXEC", arguments: 0)
    return all
  }

  /// The answers to the commands of a transaction.
  ///
  /// - Parameters:
  ///   - replies: The answers from `MULTI` to `EXEC`.
  ///   - count: The number of commands between them.
  /// - Throws: ``RedisError`` as ``run(_:inCluster:_:)``.
  static func result(of replies: [Reply], _ count: Int, inCluster: Bool) throws(RedisError) -> [Reply] {
    if replies.last?.isNull == true {
      throw RedisError(.conflict, "another process changed a record that the transaction has read; begin again")
    }
    guard let result = replies.last, result.kind == .array, result.values.count == count else {
      let error = replies.first { $0.kind == .error }
      if inCluster, let error, error.isUnavailable {
        throw RedisError(.unavailable, "the cluster cannot run a transaction now (\(error.errorText ?? "")); try again later")
      }
      throw RedisError(
        .transactionRefused,
        "Redis refused a transaction (\(error?.errorText ?? "its answer is malformed")); check memory, permissions and type of the keys"
      )
    }
    return Array(result.values)
  }
}
