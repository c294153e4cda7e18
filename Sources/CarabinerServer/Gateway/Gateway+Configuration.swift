public import CarabinerGateway
public import Logging

extension Gateway {
  /// How a gateway listens, and how much its clients may take.
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

    /// The addresses to listen on: `HOST:PORT`, `[IPV6]:PORT`, `unix:PATH`, or `fd:NUMBER` for a socket that listens already. Port 0
    /// takes any free port.
    public var addresses: [String]
    /// The path of the GraphQL endpoint.
    public var path = "/graphql"
    /// The limits for clients.
    public var limits = GatewayLimits()
    /// How many threads read from clients, 1 to 64.
    public var threads = 1
    /// How long operations under way may take once the gateway is told to end; then their connections are closed.
    public var drainTime = Duration.seconds(30)
    /// The certificate of TLS connections; nil for connections without TLS.
    public var tls: TLS?
    /// The path of a Unix socket for `carabiner status`, `reload` and the like, for processes of the same user; nil for none.
    public var adminSocket: String?
    /// Gets a line for each request; nil for no access log.
    public var accessLogger: Logger?
    /// Is called once the gateway listens, with its addresses; the ports are those in use.
    public var onListening: (@Sendable (_ addresses: [String]) -> Void)?

    /// The sockets that a service manager handed over; they are used if ``addresses`` is empty.
    package var inherited: [GatewayServer.Address] = []
    /// Makes traces of requests and sends them; nil for none.
    package var traces: TraceExport?
    /// Is called before requests are cut off at the end, with the number of connections and of operations.
    package var onCutOff: (@Sendable (_ connections: Int, _ operations: Int) -> Void)?

    /// A gateway at one address, with the defaults.
    public init(address: String = "127.0.0.1:4000") { addresses = [address] }
  }
}
