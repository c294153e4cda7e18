/// The limits of an answer. A larger one ends the connection.
package struct RESPLimits: Sendable, Hashable {
  /// The maximum size of an answer with all that it contains, in bytes. Attributes before it count too.
  package var replyBytes = 64 << 20
  /// The maximum number of aggregates around a value: 8 arrays in each other are read, 9 are not.
  package var depth = 8
  /// The maximum length of a line, in bytes without its end. All but texts of a declared length are lines.
  package var lineBytes = 64 << 10
  /// The maximum number of values in an answer, aggregates among them. Attributes count too.
  package var values = 1 << 20

  /// Creates the default limits.
  package init() {}
}
