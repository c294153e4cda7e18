package import Carabiner
package import CarabinerWire

extension Manifest {
  /// The settings of a gateway.
  package struct Serve: Sendable, Hashable {
    /// Names of request headers that are sent to the upstream. A trailing `*` matches all names with that prefix.
    package var forwardedHeaders: [String] = []
    /// Names of response headers that are returned to the client; `*` as above.
    package var returnedHeaders: [String] = []
    /// Names of headers that a WebSocket client may add in `connection_init`; `*` as above.
    package var connectionInitHeaders: [String] = []
    /// The use of the store, which all clients share.
    package var cachePolicy = CachePolicy.networkOnly
    /// The trial of a new generation on a share of the operations; nil to switch all operations at once.
    package var canary: Canary?
    /// The trial of a new generation on copies of operations, whose results are compared and discarded; nil to switch all operations at
    /// once.
    package var shadow: Shadow?
    /// The origins of pages in browsers that may use the gateway; nil for none but its own host.
    package var cors: CORS?
    /// The operations that clients may run; nil for all.
    package var operations: Operations?
    /// Compression of responses; nil for none.
    package var compression: Compression?
    /// The paths at which operations are served; nil for the default.
    package var paths: [String]?
    /// The limits for clients that differ from the defaults.
    package var limits: [ServeLimit: LimitValue] = [:]
    /// The addresses of the gateway; nil for the default.
    package var listeners: [Listener]?
    /// The networks of trusted proxies, which report the address of a client.
    package var trustedProxies: [IPNetwork]?
    /// Whether the upstream gets fields about the client; nil for the default.
    package var sendsForwardedFields: Bool?

    /// The state that gateways share; nil for none.
    package var shared: Shared?
    /// The mutations that run once; nil for none.
    package var idempotency: Idempotency?

    /// Whether the gateway is ready only while an endpoint of `main` is available; nil for the default.
    package var isReadyWithUpstream: Bool?

    /// The largest number of networks in ``trustedProxies``.
    package static let maximumProxies = 1000
  }

  /// A new generation first runs a share of the operations. It takes over if it has no more errors and is not slower.
  package struct Canary: Sendable, Hashable {
    /// The share that the new generation runs, above 0 to 1.
    package var share: Double
    /// The time until it takes over.
    package var duration = Duration.seconds(600)
    /// The request header whose value assigns a client to a generation; nil to use the client's address. A client sees one generation.
    package var key: String?
    /// The allowed increase of the share of operations that fail or have errors over the old generation, 0 to 1.
    package var errorIncrease = 0.02
    /// The allowed ratio of its latency to that of the old generation, at the 95th percentile.
    package var latencyRatio = 2.0
    /// The operations that it must have run before it is judged.
    package var minimumOperations = 50

    /// A canary with this share.
    package init(share: Double) { self.share = share }
  }

  /// A new generation runs copies of operations.
  package struct Shadow: Sendable, Hashable {
    /// The source of the responses to the copies.
    package enum Upstream: String, Sendable, Hashable, CaseIterable {
      /// The recorded response of the upstream to the original request.
      case recorded
      /// A new request to the upstream.
      case live
    }

    /// The share of queries that are copied, above 0 to 1.
    package var share: Double
    package var upstream = Upstream.recorded

    /// A shadow with this share.
    package init(share: Double) { self.share = share }
  }
}
