import CarabinerPipeline
import Foundation

/// Lines that interceptors wrote.
public final class Journal {
  private let lock = NSLock()
  private var lines: [String] = []

  public init() {}

  public func log(_ line: String) {
    lock.lock()
    defer { lock.unlock() }
    lines.append(line)
  }

  public var entries: [String] {
    lock.lock()
    defer { lock.unlock() }
    return lines
  }
}

/// Logs each request before it is sent.
public class RequestLogInterceptor: ApolloInterceptor {
  private let journal: Journal

  public init(journal: Journal) { self.journal = journal }

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, Error>) -> Void
  ) {
    journal.log("request \(request.operation.operationName ?? "")")
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}

/// Logs each response. Before the network it reports an error, and goes on nevertheless.
public class ResponseLogInterceptor: ApolloInterceptor {
  public enum ResponseLogError: Error {
    case notYetReceived
  }

  private let journal: Journal

  public init(journal: Journal) { self.journal = journal }

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, Error>) -> Void
  ) {
    defer { chain.proceedAsync(request: request, response: response, completion: completion) }
    guard let received = response else {
      chain.handleErrorAsync(ResponseLogError.notYetReceived, request: request, response: response, completion: completion)
      return
    }
    journal.log("status \(received.httpResponse.statusCode)")
    if let text = String(bytes: received.rawData, encoding: .utf8) { journal.log("body \(text)") }
  }
}

/// Logs each error, and passes it on.
public class ErrorLogInterceptor: ApolloErrorInterceptor {
  private let journal: Journal

  public init(journal: Journal) { self.journal = journal }

  public func handleErrorAsync<Operation: GraphQLOperation>(
    error: Error, chain: RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, Error>) -> Void
  ) {
    journal.log("error \(error)")
    completion(.failure(error))
  }
}
