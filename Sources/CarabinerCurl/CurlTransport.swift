public import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// Sends HTTP requests over connections of libcurl, all on one event loop.
///
/// If tasks prefer `transport.loop` as their executor, their requests stay on the thread of the loop.
public final class CurlTransport: HTTPTransport {
  /// Limits, timeouts and settings of connections.
  public let configuration: Configuration
  /// The thread that drives the transfers, usable as the preferred executor of tasks.
  public let loop: EventLoop
  private let counters: TransportCounters
  private let idle: EasyHandlePool
  private let limits: Transfer.Limits
  /// The number of bytes of a redirect's body that are read to keep the connection. If there are more, the connection is closed.
  private static let redirectBodyBytes = 64 * 1024

  /// Creates a transport with its own event loop.
  ///
  /// - Parameter predecessor: The transport that this one replaces. Its figures are continued, so that no counter decreases.
  /// - Throws: ``Carabiner/TransportError`` if the process has no more file descriptors or threads.
  public init(configuration: Configuration = Configuration(), replacing predecessor: CurlTransport? = nil) throws {
    self.configuration = configuration
    counters = predecessor?.counters ?? TransportCounters()
    loop = try EventLoop(maximumConnectionsPerHost: configuration.maximumConnectionsPerHost, counters: counters)
    idle = EasyHandlePool(configuration)
    limits = Transfer.Limits(configuration)
  }

  deinit { loop.stop() }

  /// The counters of connections and requests.
  public var metrics: TransportMetrics { counters.metrics }

  /// The number of running transfers.
  public var transferCount: Int {
    get async throws { try await loop.run { $0.transferCount } }
  }

  public func send(_ request: URLRequest) async throws -> HTTPResponse {
    try request.checkLine()
    let response = try await exchange(request, at: nil)
    guard let target = response.response.redirectTarget else { return response }
    return try await follow(target, from: response, to: request)
  }

  /// Sends a request to an address instead of the addresses of its host name. Host header and TLS name stay those of the URL.
  ///
  /// - Parameter address: An IP address, without brackets.
  package func send(_ request: URLRequest, at address: String) async throws -> HTTPResponse {
    try request.checkLine()
    let response = try await exchange(request, at: address)
    guard let target = response.response.redirectTarget else { return response }
    return try await follow(target, from: response, to: request)
  }

  /// Follows redirects. A separate function, because the frame of ``send(_:)`` is part of each request.
  private func follow(_ first: String, from response: HTTPResponse, to request: URLRequest) async throws -> HTTPResponse {
    if configuration.returnsRedirects { return response }
    var (request, response, target) = (request, response, first)
    var redirects = 0
    while true {
      redirects += 1
      guard redirects <= configuration.maximumRedirects else {
        throw TransportError(
          .redirectRefused,
          "the server redirected more than \(configuration.maximumRedirects) times, at last to \(PrintableURL(target)); is it a loop?",
          url: request.url.absoluteString, mayHaveBeenSent: true, responseBegan: true)
      }
      try await response.discardBody(upTo: Self.redirectBodyBytes)
      request = try request.redirected(by: response.response, to: target, taking: configuration.redirectHeaders)
      try request.checkLine()
      response = try await exchange(request, at: nil)
      guard let next = response.response.redirectTarget else { return response }
      target = next
    }
  }

  /// Exchanges one request and one response, without redirects.
  ///
  /// - Parameter address: The IP address of the server; nil to look up the host name.
  private func exchange(_ request: URLRequest, at address: String?) async throws -> HTTPResponse {
    let ticket = ExchangeHandle(loop: loop)
    let timeout = request.timeoutInterval > 0 ? request.timeoutInterval : configuration.totalTimeout
    try Task.checkCancellation()
    let feed = try BodyFeed.pulling(request, for: loop)
    let head: HTTPURLResponse
    do {
      head = try await withTaskCancellationHandler {
        try await ticket.start { [limits, idle] multi in
          var origin: HTTP1Origin?
          if idle.usesEngine {
            let engine = try multi.engine(idle.configuration)
            switch try engine.route(request, at: address, timeout: timeout) {
            case .engine(let exchange):
              engine.start(exchange)
              return exchange
            case .curl(let learning): origin = learning
            }
          }
          let easy = try idle.take()
          try easy.prepare(request, at: address, timeout: timeout, feed: feed)
          let transfer = Transfer(request, at: address, timeout: timeout, easy: easy, limits: limits, pool: idle, origin: origin)
          feed?.attach(transfer)
          multi.add(transfer)
          return transfer
        }
      } onCancel: {
        ticket.abort()
      }
    } catch {
      feed?.close()
      throw error
    }
    var response = HTTPResponse(
      response: head,
      chunks: PullStream {
        if Task.isCancelled {
          ticket.abort()
          throw CancellationError()
        }
        // The first part of a body mostly comes with the head.
        if let step = try ticket.readyChunk() { return step }
        return try await withTaskCancellationHandler {
          try await ticket.nextChunk()
        } onCancel: {
          ticket.abort()
        }
      })
    response.source = ticket
    return response
  }
}

extension HTTPResponse {
  /// Reads the body and drops it. If it is longer than `limit` bytes, the rest is not read and the connection is closed.
  fileprivate func discardBody(upTo limit: Int) async throws {
    var count = 0
    for try await chunk in chunks {
      count += chunk.count
      if count > limit { return }
    }
  }
}
