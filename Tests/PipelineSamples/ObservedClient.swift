import CarabinerPipeline
import Foundation

/// A client that decides about each response when its head arrives.
open class ObservedClient: URLSessionClient {
  private let journal: Journal
  private let disposition: URLSession.ResponseDisposition?

  /// - Parameter disposition: The decision; nil to make none.
  public init(journal: Journal, disposition: URLSession.ResponseDisposition?, callbackQueue: OperationQueue? = nil) {
    self.journal = journal
    self.disposition = disposition
    super.init(sessionConfiguration: .default, callbackQueue: callbackQueue, sessionDescription: "observed")
  }

  open override func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    journal.log("\(session.sessionDescription ?? "") \(response.statusCode)")
    guard let disposition = disposition else { return }
    completionHandler(disposition)
  }

  open override func clear(task identifier: Int) {
    journal.log("cleared")
    super.clear(task: identifier)
  }
}

/// The text that a program shows for an error of its client.
public func words(for error: URLSessionClient.URLSessionClientError) -> String {
  switch error {
  case .noHTTPResponse: return "no response"
  case .sessionBecameInvalidWithoutUnderlyingError, .sessionInvalidated: return "invalid"
  case .dataForRequestNotFound: return "no data"
  case .networkError(_, _, let underlying): return "\(underlying)"
  case .missingMultipartBoundary, .cannotParseBoundaryData: return "no parts"
  }
}

/// The price in a JSON value, without a loss of digits.
public func price(_ value: JSONValue) -> JSONNumber? { value.number }
