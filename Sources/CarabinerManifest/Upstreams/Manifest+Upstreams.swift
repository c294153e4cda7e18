extension Manifest {
  /// The name of the upstream that serves all operations for which no rule names another one.
  package static let mainUpstream = "main"

  /// A group of endpoints that serve the same schema.
  package struct Upstream: Sendable, Hashable {
    /// The most endpoints of an upstream.
    package static let maximumEndpoints = 256

    /// A server of an upstream.
    package struct Endpoint: Sendable, Hashable {
      /// The URL; may contain references.
      package var url: String
      /// The share of the requests, relative to the weights of the other endpoints.
      package var weight = 1
      /// Whether the endpoint gets requests only if no other one is available.
      package var isBackup = false

      /// An endpoint with the default weight.
      package init(url: String) { self.url = url }
    }

    /// The method that chooses the endpoint of a request.
    package enum Balance: String, Sendable, Hashable, CaseIterable {
      case leastRequests = "least-requests"
      case roundRobin = "round-robin"
      case random
      case hash
    }

    /// The name in rules, metrics and messages.
    package var name: String
    package var endpoints: [Endpoint]
    package var balance = Balance.leastRequests
    /// The request header whose value chooses the endpoint; nil without `hash`.
    package var hashKey: String?
    /// The time between two lookups of a host name; nil to leave names to libcurl.
    package var resolveInterval: Duration? = .seconds(10)
    package var retry = Retry()
    /// If a smaller share of the endpoints is available, all are used.
    package var panicShare = 0.5
    /// The active checks; nil for none.
    package var health: HealthCheck?
    /// The ejection of endpoints that fail; nil for none.
    package var outliers: Outliers?
    package var limits = Limits()
    /// The circuit breaker; nil for none.
    package var breaker: Breaker?
    /// The certificates of connections to the endpoints; nil for those of the host.
    package var tls: TLS?

    /// An upstream with the defaults.
    package init(name: String, endpoints: [Endpoint]) {
      self.name = name
      self.endpoints = endpoints
      outliers = endpoints.count > 1 ? Outliers() : nil
    }
  }
}

extension Manifest.Upstream {
  /// The rules for retries: which failed requests are sent again, and how often.
  package struct Retry: Sendable, Hashable {
    /// A reason to send a request again.
    package enum Cause: String, Sendable, Hashable, CaseIterable {
      /// The request was not sent.
      case connect
      /// The connection ended before the first byte of the response.
      case reset
      /// An attempt exceeded its own timeout.
      case timeout
      case tooManyRequests = "429"
      case internalError = "500"
      case badGateway = "502"
      case unavailable = "503"
      case gatewayTimeout = "504"

      /// The status of the response; nil for causes without a response.
      package var status: Int? { Int(rawValue) }
    }

    /// The most attempts of a request, the first included.
    package var attempts = 2
    package var causes: Set<Cause> = [.connect, .reset, .badGateway, .unavailable, .gatewayTimeout]
    /// The time limit of one attempt; nil for none.
    package var attemptTimeout: Duration?
    /// The longest delay before the first retry at the same endpoint. It doubles with each further retry.
    package var baseDelay = Duration.milliseconds(25)
    /// The longest delay before any retry.
    package var maximumDelay = Duration.milliseconds(250)
    /// The highest number of retries in progress, as a share of the requests in progress.
    package var budget = 0.2
    /// The number of retries in progress that is always allowed.
    package var minimumConcurrent = 3

    /// The defaults.
    package init() {}
  }

  /// Requests that check an endpoint.
  package struct HealthCheck: Sendable, Hashable {
    /// The request of a check.
    package enum Request: Sendable, Hashable {
      /// GET of a path.
      case path(String)
      /// POST of a GraphQL document, whose response must have `data`.
      case query(String)
    }

    package var request: Request
    package var interval = Duration.seconds(5)
    package var timeout = Duration.seconds(2)
    /// The number of consecutive failed checks after which an endpoint is unavailable.
    package var fall = 3
    /// The number of consecutive successful checks after which it is available again.
    package var rise = 2
    /// The statuses of a successful check.
    package var statuses = [200...299]

    /// A check with the defaults.
    package init(request: Request) { self.request = request }
  }

  /// The ejection of endpoints that fail several times in a row.
  package struct Outliers: Sendable, Hashable {
    /// The number of consecutive failures after which an endpoint is ejected.
    package var failures = 5
    /// The time of the first ejection. It is multiplied by the number of consecutive ejections.
    package var ejection = Duration.seconds(30)
    package var maximumEjection = Duration.seconds(300)
    /// The share of the endpoints that may be ejected at the same time.
    package var maximumEjected = 0.5

    /// The defaults.
    package init() {}
  }

  /// The limits of an upstream.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of requests in progress.
    package var requests = 1024
    /// The maximum number of requests that wait.
    package var waiting = 1024
    /// The most connections; nil for no limit.
    package var connections: Int?

    /// The defaults.
    package init() {}
  }

  /// The circuit breaker of an upstream.
  package struct Breaker: Sendable, Hashable {
    /// The share of failed requests that opens the breaker.
    package var share = 0.5
    /// The number of requests below which the breaker stays closed.
    package var minimum = 20
    /// The time in which requests are counted.
    package var window = Duration.seconds(10)
    /// The time after which an open breaker lets a request through.
    package var openTime = Duration.seconds(5)

    /// The defaults.
    package init() {}
  }

  /// The files for TLS connections to the endpoints, all in PEM.
  package struct TLS: Sendable, Hashable {
    /// The certificates to trust; nil for those of the host.
    package var authorities: String?
    /// The certificate of the client; nil for none.
    package var certificate: String?
    /// The key of the certificate.
    package var key: String?

    /// No files.
    package init() {}
  }
}
