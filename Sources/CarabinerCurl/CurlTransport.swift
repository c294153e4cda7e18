public import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// Sends HTTP requests over libcurl, all on one event loop.
///
/// Prefer `transport.loop` as the executor of the tasks that use it and no request leaves the loop's thread.
public final class CurlTransport: HTTPTransport {
  /// Limits, timeouts and what the connections are like.
  public let configuration: Configuration
  /// The thread that drives the transfers, usable as the preferred executor of tasks.
  public let loop: EventLoop
  private let counters: TransportCounters
  private let idle: EasyHandlePool
  private let limits: Transfer.Limits
  /// How much of a redirect's body is read to keep the connection; a server that sends more loses it.
  private static let redirectBodyBytes = 64 * 1024

  /// A transport with a loop of its own.
  ///
  /// - Parameter predecessor: A transport this one takes the place of; it goes on with its figures, so that none of them goes back.
  /// - Throws: ``Carabiner/TransportError`` if the system has no descriptors or threads left.
  public init(configuration: Configuration = Configuration(), replacing predecessor: CurlTransport? = nil) throws {
    self.configuration = configuration
    counters = predecessor?.counters ?? TransportCounters()
    loop = try EventLoop(maximumConnectionsPerHost: configuration.maximumConnectionsPerHost, counters: counters)
    idle = EasyHandlePool(configuration)
    limits = Transfer.Limits(configuration)
  }

  deinit { loop.stop() }

  /// What is counted of connections and requests.
  public var figures: TransportFigures { counters.figures }

  /// How many transfers are under way, for whoever wants to know that nothing was left behind.
  public var transferCount: Int {
    get async throws { try await loop.run { $0.transferCount } }
  }

  public func send(_ request: URLRequest) async throws -> HTTPResponse {
    var request = request
    var redirects = 0
    while true {
      try request.checkLine()
      let response = try await exchange(request)
      guard let target = response.response.redirectTarget else { return response }
      redirects += 1
      guard redirects <= configuration.maximumRedirects else {
        throw TransportError(
          .redirectRefused,
          "the server redirected more than \(configuration.maximumRedirects) times, at last to \(PrintableURL(target)); is it a loop?",
          url: request.url.absoluteString, mayHaveBeenSent: true, responseBegan: true)
      }
      try await response.discardBody(upTo: Self.redirectBodyBytes)
      request = try request.redirected(by: response.response, to: target, taking: configuration.redirectHeaders)
    }
  }

  /// One request and one response, redirects not followed.
  private func exchange(_ request: URLRequest) async throws -> HTTPResponse {
    let ticket = TransferTicket(loop: loop)
    let timeout = request.timeoutInterval > 0 ? request.timeoutInterval : configuration.totalTimeout
    try Task.checkCancellation()
    let head = try await withTaskCancellationHandler {
      try await ticket.start { [limits, idle] multi in
        let easy = try idle.take()
        try easy.prepare(request, timeout: timeout)
        let transfer = Transfer(request, easy: easy, limits: limits, pool: idle)
        multi.add(transfer)
        return transfer
      }
    } onCancel: {
      ticket.abort()
    }
    return HTTPResponse(
      response: head,
      chunks: PullStream {
        try await withTaskCancellationHandler {
          try Task.checkCancellation()
          return try await ticket.nextChunk()
        } onCancel: {
          ticket.abort()
        }
      })
  }
}

extension HTTPResponse {
  /// Reads the body and forgets it; past `limit` bytes it is left unread, which closes the connection.
  fileprivate func discardBody(upTo limit: Int) async throws {
    var count = 0
    for try await chunk in chunks {
      count += chunk.count
      if count > limit { return }
    }
  }
}
