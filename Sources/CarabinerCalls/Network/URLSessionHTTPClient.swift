public import Carabiner
internal import CarabinerCurl
public import FoundationEssentials
internal import Synchronization

/// Sends requests over libcurl, or over any other transport of this package.
public typealias CurlHTTPClient = URLSessionHTTPClient

/// Sends requests over a transport.
///
/// It has the name of the client that programs of this generation create. It does not use `URLSession`.
open class URLSessionHTTPClient: HTTPClientInterface, @unchecked Sendable {
  // Immutable, but for a mutex. Subclasses must be safe to use on any thread.

  private let transport: Mutex<(any HTTPTransport)?>
  private let stages: (any Carabiner.InterceptorProvider)?
  private let tracer: (any ChainTracer)?

  /// A client with connections of its own. They are opened when they are needed.
  public init() {
    transport = Mutex(nil)
    stages = nil
    tracer = nil
  }

  /// A client over a transport.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests. Its limits for bodies and times apply too, also to streams.
  ///   - stages: Its HTTP interceptors see each request as it is sent and each response as it is received; nil for none. It gets a
  ///     ``Carabiner/DynamicOperation`` without a document, with the name `package.Service/Method`.
  public init(transport: any HTTPTransport, stages: (any Carabiner.InterceptorProvider)? = nil) {
    self.transport = Mutex(transport)
    self.stages = stages
    tracer = nil
  }

  /// A client over a transport, with a tracer for each exchange.
  package init(transport: any HTTPTransport, stages: (any Carabiner.InterceptorProvider)?, tracer: (any ChainTracer)?) {
    self.transport = Mutex(transport)
    self.stages = stages
    self.tracer = tracer
  }

  @discardableResult
  open func unary(
    request: HTTPRequest<Data?>, onMetrics: @escaping @Sendable (HTTPMetrics) -> Void,
    onResponse: @escaping @Sendable (HTTPResponse) -> Void
  ) -> Cancelable {
    let exchange = HTTPExchange(request, over: Result { try shared() }, stages: stages, tracer: tracer)
    let task = Task {
      onResponse(await exchange.response())
      onMetrics(exchange.metrics)
    }
    return Cancelable { task.cancel() }
  }

  open func stream(request: HTTPRequest<Data?>, responseCallbacks: ResponseCallbacks) -> RequestCallbacks<Data> {
    let exchange = HTTPExchange(request, over: Result { try shared() }, stages: stages, tracer: tracer)
    let pipe = RequestPipe(maximumBytes: exchange.maximumBytes)
    let task = Task {
      let (code, error) = await exchange.stream(pipe, to: responseCallbacks)
      responseCallbacks.receiveClose(code, [:], error)
      responseCallbacks.receiveResponseMetrics(exchange.metrics)
    }
    let send: @Sendable (Data) -> Void = { data in
      guard !pipe.send(data) else { return }
      responseCallbacks.receiveClose(.resourceExhausted, [:], ConnectError.tooMuchWaits(exchange.maximumBytes))
      task.cancel()
    }
    return RequestCallbacks(cancel: { task.cancel() }, sendData: send, sendClose: { pipe.close() })
  }

  /// The transport, created now if there is none yet.
  private func shared() throws -> any HTTPTransport {
    try transport.withLock { transport in
      if let transport { return transport }
      var configuration = CurlTransport.Configuration()
      // Calls have a time limit of their own, and limits for messages. A stream may be long.
      configuration.totalTimeout = .infinity
      configuration.maximumBodyBytes = .max
      let made = try CurlTransport(configuration: configuration)
      transport = made
      return made
    }
  }
}

extension ConnectError {
  fileprivate static func tooMuchWaits(_ maximum: Int) -> ConnectError {
    ConnectError(
      code: .resourceExhausted,
      message: "more than \(maximum) bytes of messages wait to be sent; send slower, or raise maximumMessageBytes")
  }
}
