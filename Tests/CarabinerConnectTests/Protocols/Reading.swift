import CarabinerConnect
import Foundation

/// Everything that is read of a response.
struct Reading: Equatable, CustomStringConvertible {
  var headers: [Headers] = []
  var messages: [Data] = []
  /// The codes of all ends; a correct reader gives one.
  var codes: [Code] = []
  var error: ConnectError?
  var trailers: Trailers = [:]
  /// Whether an event followed the end.
  var hasMore = false
  /// Whether the end was known before the body had ended.
  var endedEarly = false

  init(
    _ reader: any ResponseReader, _ status: ResponseStatus = .http(200), _ headers: Headers, _ chunks: [Data], code: Code = .ok
  ) {
    var reader = reader
    reader.begin(status, headers: headers)
    take(&reader)
    for chunk in chunks {
      reader.append(chunk)
      take(&reader)
    }
    endedEarly = reader.isComplete
    reader.finish(code: code)
    take(&reader)
  }

  private mutating func take(_ reader: inout any ResponseReader) {
    while let event = reader.next() {
      if !codes.isEmpty { hasMore = true }
      switch event {
      case .headers(let headers): self.headers.append(headers)
      case .message(let message): messages.append(message)
      case .complete(let code, let error, let trailers):
        codes.append(code)
        self.error = error
        self.trailers = trailers
      }
    }
  }

  static func == (left: Reading, right: Reading) -> Bool {
    left.description == right.description && left.messages == right.messages
  }

  var description: String {
    func sorted(_ fields: Headers) -> String {
      fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
    return "headers \(headers.map(sorted)), \(messages.count) messages, \(codes), \(String(describing: error?.message)), "
      + "\(String(describing: error?.details)), \(sorted(error?.metadata ?? [:])), trailers \(sorted(trailers)), \(hasMore)"
  }
}

extension Data {
  /// An envelope.
  static func envelope(_ flags: UInt8, _ message: Data) -> Data {
    let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: message.count >> $0) }
    return Data([flags] + length) + message
  }

  static func envelope(_ flags: UInt8, _ message: String) -> Data { envelope(flags, Data(message.utf8)) }

  /// The two parts before and after a place.
  func cut(at place: Int) -> [Data] { [Data(prefix(place)), Data(dropFirst(place))] }
}
