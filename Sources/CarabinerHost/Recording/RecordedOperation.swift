internal import Carabiner
internal import CarabinerWire
internal import Foundation

/// An operation with its upstream requests and its result.
struct RecordedOperation: Sendable {
  /// The result of an operation.
  enum Result: Sendable {
    /// The complete result, as sent to the client.
    case response([UInt8])
    /// The operation failed; the value is the kind of failure.
    case failure(String)
  }

  var operation: DynamicOperation
  /// The fields of the client that were forwarded.
  var headers: HTTPHeaders
  var upstream: [UpstreamExchange]
  var result: Result

  /// The operation as a line of a record.
  var json: JSONValue {
    var asked: JSONObject = [
      "query": .string(operation.document), "type": .string(operation.operationType.rawValue),
      "name": operation.operationName.map { .string($0) } ?? .null, "variables": .object(operation.variables),
    ]
    if !operation.extensions.isEmpty { asked["extensions"] = .object(operation.extensions) }
    var object: JSONObject = [
      "operation": .object(asked),
      "headers": headers.json, "upstream": .array(upstream.map(\.json)),
    ]
    switch result {
    case .response(let bytes): object["result"] = (try? JSONValue(parsing: bytes)) ?? .null
    case .failure(let kind): object["failure"] = .string(kind)
    }
    return .object(object)
  }

  init(operation: DynamicOperation, headers: HTTPHeaders, upstream: [UpstreamExchange], result: Result) {
    self.operation = operation
    self.headers = headers
    self.upstream = upstream
    self.result = result
  }

  /// Parses a line of a record; nil if it is malformed.
  init?(_ json: JSONValue) {
    guard let query = json["operation"]?["query"]?.string,
      let type = json["operation"]?["type"]?.string.flatMap(GraphQLOperationType.init(rawValue:)),
      let headers = json["headers"].flatMap(HTTPHeaders.init(json:)), let upstream = json["upstream"]?.array
    else { return nil }
    operation = DynamicOperation(
      document: query, operationName: json["operation"]?["name"]?.string, operationType: type,
      variables: json["operation"]?["variables"]?.object ?? [:], extensions: json["operation"]?["extensions"]?.object ?? [:])
    self.headers = headers
    self.upstream = []
    for exchange in upstream {
      guard let exchange = UpstreamExchange(exchange) else { return nil }
      self.upstream.append(exchange)
    }
    if let response = json["result"], response.object != nil {
      result = .response(response.serialized())
    } else if let failure = json["failure"]?.string {
      result = .failure(failure)
    } else {
      return nil
    }
  }
}

/// A request to the upstream and its response.
struct UpstreamExchange: Sendable, Hashable {
  var method: String
  var url: String
  var headers: HTTPHeaders
  var body: [UInt8]
  /// The status of the response; 0 if there was none.
  var status: Int
  var responseHeaders: HTTPHeaders
  var responseBody: [UInt8]

  var json: JSONValue {
    [
      "method": .string(method), "url": .string(url), "headers": headers.json, "body": Self.text(body), "status": .count(status),
      "responseHeaders": responseHeaders.json, "responseBody": Self.text(responseBody),
    ]
  }

  init(_ request: URLRequest) {
    method = request.httpMethod
    url = PrintableURL(request.url).description
    headers = request.headers
    body = request.httpBody.map { [UInt8]($0) } ?? []
    status = 0
    responseHeaders = HTTPHeaders()
    responseBody = []
  }

  init?(_ json: JSONValue) {
    guard let method = json["method"]?.string, let url = json["url"]?.string,
      let headers = json["headers"].flatMap(HTTPHeaders.init(json:)), let body = json["body"].flatMap(Self.bytes),
      let status = json["status"]?.int, (0...599).contains(status),
      let responseHeaders = json["responseHeaders"].flatMap(HTTPHeaders.init(json:)),
      let responseBody = json["responseBody"].flatMap(Self.bytes)
    else { return nil }
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.status = status
    self.responseHeaders = responseHeaders
    self.responseBody = responseBody
  }

  /// UTF-8 text as a string, other bytes as an object with their base 64.
  private static func text(_ bytes: [UInt8]) -> JSONValue {
    if let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
    return ["base64": .string(Data(bytes).base64EncodedString())]
  }

  private static func bytes(_ json: JSONValue) -> [UInt8]? {
    if let text = json.string { return Array(text.utf8) }
    return json["base64"]?.string.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
  }
}

extension HTTPHeaders {
  /// The fields as pairs of name and value.
  var json: JSONValue { .array(fields.map { [.string($0.name), .string($0.value)] }) }

  init?(json: JSONValue) {
    guard let pairs = json.array else { return nil }
    self.init()
    for pair in pairs {
      guard let name = pair[0]?.string, let value = pair[1]?.string else { return nil }
      add(name: name, value: value)
    }
  }
}
