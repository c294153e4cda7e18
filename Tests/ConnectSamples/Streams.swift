import Connect
import Foundation

/// Counts the messages of streams, and names the program in their requests.
public final class CountingInterceptor: StreamInterceptor {
  private let counter: Counter

  public init(counter: Counter) { self.counter = counter }

  @Sendable
  public func handleStreamStart(
    _ request: HTTPRequest<Void>, proceed: @escaping @Sendable (Result<HTTPRequest<Void>, ConnectError>) -> Void
  ) {
    var headers = request.headers
    headers["x-program"] = ["sample"]
    proceed(
      .success(HTTPRequest(url: request.url, headers: headers, message: request.message, trailers: request.trailers)))
  }

  @Sendable
  public func handleStreamRawResult(
    _ result: StreamResult<Data>, proceed: @escaping @Sendable (StreamResult<Data>) -> Void
  ) {
    if result.messageValue != nil { counter.count() }
    proceed(result)
  }
}

/// A number that only grows.
public final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0

  public init() {}

  public func count() {
    lock.lock()
    defer { lock.unlock() }
    number += 1
  }

  public var value: Int {
    lock.lock()
    defer { lock.unlock() }
    return number
  }
}

/// Sends a request again, once, if the server does not know its token.
public final class RenewingInterceptor: UnaryInterceptor, @unchecked Sendable {
  private let lock = NSLock()
  private var sendAgain: (@Sendable (Headers) -> Void)?

  public init() {}

  @Sendable
  public func handleUnaryRequest<Message: ProtobufMessage>(
    _ request: HTTPRequest<Message>, proceed: @escaping @Sendable (Result<HTTPRequest<Message>, ConnectError>) -> Void
  ) {
    lock.lock()
    sendAgain = { headers in
      proceed(
        .success(HTTPRequest(url: request.url, headers: headers, message: request.message, trailers: request.trailers)))
    }
    lock.unlock()
    proceed(.success(request))
  }

  @Sendable
  public func handleUnaryResponse<Message: ProtobufMessage>(
    _ response: ResponseMessage<Message>, proceed: @escaping @Sendable (ResponseMessage<Message>) -> Void
  ) {
    lock.lock()
    let again = sendAgain
    sendAgain = nil
    lock.unlock()
    guard response.code == .unauthenticated, let again = again else { return proceed(response) }
    again(["Authorization": ["Bearer renewed"]])
  }
}

/// Reads the numbers that a service counts.
public func count(_ client: GreetingClient, to last: String) async throws -> [String] {
  var texts: [String] = []
  let stream = client.count()
  try stream.send(Text.with { $0.value = last })
  for await result in stream.results() {
    switch result {
    case .headers: break
    case .message(let text): texts.append(text.value)
    case .complete(_, let error, _): if let error = error { throw error }
    }
  }
  return texts
}
