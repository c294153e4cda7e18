public import Carabiner
internal import CarabinerCurl
public import FoundationEssentials
internal import Synchronization

// Foundation's types of these names are not available on Linux without FoundationNetworking. These have the members that clients of
// this generation use.

/// The settings of a client's connections.
open class URLSessionConfiguration: @unchecked Sendable {
  // Its properties are set before the client that uses it sends, as those of Foundation's type.

  /// The limit for a transfer in seconds.
  open var timeoutIntervalForRequest: TimeInterval = 60
  /// Header fields of all requests that do not set them themselves.
  open var httpAdditionalHeaders: [String: String]?
  /// The maximal number of connections to one host; 0 for no limit.
  open var httpMaximumConnectionsPerHost = 0

  /// A configuration with the defaults.
  public init() {}

  /// A new configuration with the defaults.
  public static var `default`: URLSessionConfiguration { URLSessionConfiguration() }
  /// The same as `default`: no client keeps cookies or a cache of HTTP.
  public static var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }

  /// A transport with these settings.
  func transport() throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    configuration.totalTimeout = timeoutIntervalForRequest
    configuration.maximumConnectionsPerHost = httpMaximumConnectionsPerHost
    return try CurlTransport(configuration: configuration)
  }
}

/// The session of a client or of a ``HTTPNetworkTransport``.
public final class URLSession: Sendable {
  /// A session with the default settings, which all its users share.
  public static let shared = URLSession(configuration: .default)

  /// The decision about a response whose head arrived.
  public enum ResponseDisposition: Int, Sendable, Hashable {
    /// The transfer is cancelled.
    case cancel
    /// The body is read.
    case allow
    /// The same as `allow`: there are no downloads.
    case becomeDownload
    /// The same as `allow`: there are no streams.
    case becomeStream
  }

  /// The settings.
  public let configuration: URLSessionConfiguration
  /// A text for people; nil for none.
  public let sessionDescription: String?
  private let made: Mutex<(any HTTPTransport)?>

  /// A session with these settings.
  public convenience init(configuration: URLSessionConfiguration) { self.init(configuration: configuration, description: nil) }

  init(configuration: URLSessionConfiguration, description: String?) {
    self.configuration = configuration
    sessionDescription = description
    made = Mutex(nil)
  }

  /// A session over a transport, which may be shared with others.
  public init(transport: any HTTPTransport) {
    configuration = .default
    sessionDescription = nil
    made = Mutex(transport)
  }

  /// The transport of the session, made at the first call.
  func transport() throws -> any HTTPTransport {
    try made.withLock { made in
      let transport = try made ?? configuration.transport()
      made = transport
      return transport
    }
  }
}

/// One transfer of a client.
open class URLSessionTask: @unchecked Sendable {
  // Immutable, but for what is behind a mutex.

  /// The state of a transfer.
  public enum State: Sendable, Hashable {
    case running
    case canceling
    case completed
  }

  private struct Progress {
    var state = State.running
    var transfer: Task<Void, Never>?
  }

  private static let lastIdentifier = Atomic<Int>(0)

  /// The number of the task, unique in the process.
  public let taskIdentifier: Int
  /// The request; nil for a task that sends nothing.
  public let originalRequest: URLRequest?
  /// The text that was given with the request.
  public let taskDescription: String?
  private let progress = Mutex(Progress())

  /// A task. A subclass of ``URLSessionClient`` that answers by itself returns one without a request.
  public init(originalRequest: URLRequest? = nil, taskDescription: String? = nil) {
    taskIdentifier = Self.lastIdentifier.add(1, ordering: .relaxed).newValue
    self.originalRequest = originalRequest
    self.taskDescription = taskDescription
  }

  /// How far the transfer is.
  public var state: State { progress.withLock { $0.state } }

  /// Aborts the transfer. Its completion gets an error.
  open func cancel() {
    let transfer = progress.withLock { progress in
      if progress.state == .running { progress.state = .canceling }
      return progress.transfer
    }
    transfer?.cancel()
  }

  /// Keeps the task that transfers.
  func start(_ transfer: Task<Void, Never>) {
    let isCancelled = progress.withLock { progress in
      if progress.state != .completed { progress.transfer = transfer }
      return progress.state == .canceling
    }
    if isCancelled { transfer.cancel() }
  }

  /// Notes the end of the transfer.
  func finish() {
    progress.withLock { progress in
      (progress.state, progress.transfer) = (.completed, nil)
    }
  }
}

/// A transfer with a response in memory.
public final class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
