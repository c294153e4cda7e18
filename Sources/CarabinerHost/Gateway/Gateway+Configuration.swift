public import CarabinerGateway
public import Logging

extension Gateway {
  /// The addresses, TLS settings and limits of a gateway.
  public struct Configuration: Sendable {
    /// The files of a TLS certificate, both in PEM. They are read again when they change.
    public struct TLS: Sendable {
      /// The path of the certificates, that of the server first.
      public var certificates: String
      /// The path of the key of the first certificate.
      public var key: String

      /// - Parameters:
      ///   - certificates: The path of the certificates, that of the server first.
      ///   - key: The path of the key of the first certificate.
      public init(certificates: String, key: String) {
        self.certificates = certificates
        self.key = key
      }
    }

    /// The addresses to listen on: `HOST:PORT`, `[IPV6]:PORT`, `unix:PATH`, or `fd:NUMBER` for a socket that already listens.
    /// If it is empty, the gateway listens at `serve: {listeners: …}` of the manifest, or else at `127.0.0.1:4000`. Port 0 selects a free
    /// port.
    public var addresses: [String]
    /// Further addresses, which serve `/metrics` and nothing else: `HOST:PORT` or `[IPV6]:PORT`.
    public var metricsAddresses: [String] = []
    /// The path of the GraphQL endpoint, unless the manifest has `serve: {paths: …}`.
    public var path = "/graphql"
    /// The limits for clients. Those that the manifest names in `serve: {limits: …}` replace them.
    public var limits = GatewayLimits()
    /// The number of threads that serve connections, 1 to 64.
    public var threads = 1
    /// The time at the beginning of a shutdown in which the gateway still accepts connections and requests, while `/readyz` answers with
    /// 503. Load balancers need it to choose another gateway.
    public var lameDuckTime = Duration.zero
    /// The time that operations in progress have to finish after the listeners are closed. Then their connections are closed.
    public var drainTime = Duration.seconds(30)
    /// The certificate for TLS; nil for connections without TLS.
    public var tls: TLS?
    /// The path of a Unix domain socket for commands such as `carabiner status` and `carabiner reload`. Only processes of the
    /// same user, and root, may use it. Nil for none.
    public var adminSocket: String?
    /// Logs one line per request; nil for no access log.
    public var accessLogger: Logger?
    /// Called when the gateway listens, with its addresses and the bound ports.
    public var onListening: (@Sendable (_ addresses: [String]) -> Void)?

    /// The flags of the command, which win over the manifest.
    package var flags = GatewayFlags()
    /// The sockets that a service manager passed in. They are used if ``addresses`` is empty.
    package var inherited: [GatewayServer.Address] = []
    /// The sockets that a running gateway gives to this one; nil for none.
    package var inheritance: Inheritance?
    /// Called when the gateway listens at all addresses, before the admin socket is opened. Connections at inherited sockets wait until it
    /// returns. If it throws, the gateway does not start.
    package var onReady: (@Sendable () async throws -> Void)?
    /// Called when a successor has taken over. The program then ends this gateway. Nil if the program does not support a take-over.
    package var onHandedOver: (@Sendable () -> Void)?
    /// Records and exports traces of requests; nil for none.
    package var traces: TraceExport?
    /// Returns the number of log lines that could not be written, for the metrics; nil if the program does not know it.
    package var lostLogLines: (@Sendable () -> Int)?
    /// Called at each step of the end, with a text for people and the longest time until the next call.
    package var onEnding: (@Sendable (_ status: String, _ time: Duration) -> Void)?

    /// Creates a configuration with one address and the defaults.
    public init(address: String = "127.0.0.1:4000") { addresses = [address] }
  }
}
