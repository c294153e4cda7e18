/// Limits and delays of a client, with the values of the fleet's rules.
package struct EtcdLimits: Sendable, Hashable {
  /// The time for the answer of one member to a request, and for the begin of a watch, in seconds.
  package var timeout = 5.0
  /// The longest answer to a request in bytes.
  package var answerBytes = 16 << 20
  /// The maximum number of keys in an answer.
  package var keys = 100_000
  /// The longest line of a watch in bytes.
  package var lineBytes = EtcdLines.defaultMaximumBytes

  /// The delay before an ended watch is begun again. It is doubled up to the maximum, and each is up to this share longer or shorter.
  package var firstDelay = Duration.milliseconds(100)
  package var maximumDelay = Duration.seconds(10)
  package var jitter = 0.5
  /// The time between two comparisons of a watch with the keys.
  package var checkInterval = Duration.seconds(30)
  /// How long a watch may be behind the keys.
  package var maximumLag = Duration.seconds(5)

  package init() {}
}
