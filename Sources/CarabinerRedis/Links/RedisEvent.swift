package import CarabinerRESP

/// An event of a connection besides answers.
package enum RedisEvent: Sendable {
  /// A connection was opened. One for channels is subscribed to all of them.
  case opened
  /// A message that answers no command, such as that of a channel: `message`, the channel and the text. In RESP2 it is an array.
  case push(Reply)
  /// An open connection was lost, or the circuit opened. Messages may have been missed.
  case lost
}
