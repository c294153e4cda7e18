internal import CarabinerRESP

/// Commands that are sent again together if their node does not have their slot: one command, or a transaction from `MULTI` to `EXEC`.
struct SlotCommands: Sendable {
  let slot: HashSlot
  let commands: CommandBatch

  /// The redirect among the answers; nil if the commands were run, or cannot be run elsewhere.
  ///
  /// - Parameter server: The node that answered.
  func redirect(in replies: ArraySlice<Reply>, from server: RedisURL) -> Redirect? {
    // If EXEC was not refused, all commands of a transaction were run.
    guard replies.last?.kind == .error else { return nil }
    for reply in replies {
      if let redirect = Redirect(reply, from: server) { return redirect.slot == slot ? redirect : nil }
    }
    return nil
  }
}
