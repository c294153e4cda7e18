package import CarabinerRESP

/// How a client connects.
package struct RedisSettings: Sendable {
  /// The servers, 1 to 16. The first one that can be reached is used; all of them must have the same data.
  package var urls: [RedisURL]
  /// The user; nil for the default user.
  package var user: String?
  /// The password; nil for a server without logins.
  package var password: String?
  /// The file with the authorities of the servers' certificates, in PEM; nil for those of the system.
  package var authorityFile: String?
  /// The files with the client's certificate and its chain, and with its key, in PEM; nil for none.
  package var certificateFile: String?
  package var keyFile: String?
  /// The name of this node. The connections are called `carabiner-NODE` in `CLIENT LIST`.
  package var node: String
  /// The number of connections for commands, 1 to 8.
  package var connections = 1
  package var limits = RedisLimits()

  /// Creates settings for servers without logins.
  package init(urls: [RedisURL], node: String) { (self.urls, self.node) = (urls, node) }

  static let maximumURLs = 16
  static let maximumConnections = 8
  private static let maximumNameBytes = 100

  /// - Throws: ``RedisError`` with code `invalidSettings`.
  func check() throws(RedisError) {
    guard (1...Self.maximumURLs).contains(urls.count) else {
      throw RedisError(.invalidSettings, "there are \(urls.count) URLs; set 1 to \(Self.maximumURLs)")
    }
    guard (1...Self.maximumConnections).contains(connections) else {
      throw RedisError(.invalidSettings, "\(connections) connections are set; set 1 to \(Self.maximumConnections)")
    }
    guard user == nil || password != nil else {
      throw RedisError(.invalidSettings, "there is a user without a password; set password")
    }
    guard user != "", password != "" else { throw RedisError(.invalidSettings, "user or password is empty; set or remove it") }
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw RedisError(.invalidSettings, "certificate and key belong together; set both or none")
    }
    guard urls.contains(where: \.usesTLS) || authorityFile == nil && certificateFile == nil else {
      throw RedisError(
        .invalidSettings, "certificates are for URLs with rediss://; change the URL, or remove ca-file, certificate and key")
    }
  }

  /// The name of the connections. Redis allows visible ASCII only, so other characters become hyphens.
  var connectionName: String {
    "carabiner-"
      + String(node.unicodeScalars.prefix(Self.maximumNameBytes).map { (0x21...0x7E).contains($0.value) ? Character($0) : "-" })
  }
}

/// The limits of a client, with the values of the fleet's rules.
package struct RedisLimits: Sendable, Hashable {
  /// The maximum number of commands of one connection that have no answer yet. More are refused.
  package var waitingCommands = 10_000
  /// The maximum size of these commands, in bytes.
  package var waitingBytes = 8 << 20
  /// The limits of an answer.
  package var reply = RESPLimits()
  /// The number of exhausted budgets in a row that open the circuit.
  package var exhaustedBudgets = 5
  /// The first delay before connecting again, which is doubled each time.
  package var firstDelay = Duration.milliseconds(100)
  package var maximumDelay = Duration.seconds(5)
  /// The share of a delay by which it is longer or shorter at random.
  package var jitter = 0.2
  /// The time for a connection with TLS and login.
  package var openingTime = Duration.seconds(2)
  /// The time for the answer to the PING that closes the circuit.
  package var pingTime = Duration.milliseconds(500)
  /// The interval of PINGs over a connection that only receives. It is lost if the PING before has no answer.
  package var heartbeat = Duration.seconds(5)

  /// Creates the default limits.
  package init() {}
}
