package import CarabinerRESP

/// How a client connects.
package struct RedisSettings: Sendable {
  /// The servers, 1 to 16. The first one that can be reached is used; all of them must have the same data, or be nodes of one cluster.
  package var urls: [RedisURL]
  /// Whether the servers are nodes of a cluster, which is asked for the other nodes.
  package var isCluster = false
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
    guard !isCluster || urls.allSatisfy({ $0.database == 0 }) else {
      throw RedisError(.invalidSettings, "a cluster has database 0 only; remove the number from the URL, or remove cluster: true")
    }
    guard !isCluster || Set(urls.map(\.usesTLS)).count == 1 else {
      throw RedisError(.invalidSettings, "some URLs of the cluster have redis:// and some rediss://; write the same one in all")
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
  /// How long the second connection is kept at least if its server refuses commands too. The time is doubled for each further one.
  package var refusalTime = Duration.seconds(2)
  package var maximumRefusalTime = Duration.seconds(60)
  /// The share of a delay by which it is longer or shorter at random.
  package var jitter = 0.2
  /// The time for a connection with TLS and login.
  package var openingTime = Duration.seconds(2)
  /// The time for the answer to the PING that closes the circuit.
  package var pingTime = Duration.milliseconds(500)
  /// The interval of PINGs over a connection that only receives. It is lost if the PING before has no answer.
  package var heartbeat = Duration.seconds(5)
  /// The maximum number of masters of a cluster. An answer with more is not used.
  package var clusterNodes = 128
  /// The maximum number of further nodes to which commands are redirected.
  package var strangers = 8
  /// How long such a node is kept after the last redirect.
  package var strangerTime = Duration.seconds(60)
  /// The shortest time from one question for the slots to the next.
  package var refreshInterval = Duration.milliseconds(100)

  /// Creates the default limits.
  package init() {}
}
