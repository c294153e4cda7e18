internal import CarabinerWire
internal import FoundationEssentials

/// A request that passes the files of a client on while they arrive.
///
/// It is never answered from the cache. Persisted queries are not used for it. Its files can be sent once, so a retry fails.
struct StreamedUploadRequest<Operation: GraphQLOperation>: WrappedRequest {
  var request: JSONRequest<Operation>
  private let form: UploadedForm
  private let boundary = UploadRequest<Operation>.randomBoundary()

  init(_ request: JSONRequest<Operation>, form: UploadedForm) {
    self.request = request
    self.form = form
    self.request.fetchBehavior = .networkOnly
  }

  var carriesFiles: Bool { true }

  func toURLRequest() throws -> URLRequest {
    var sent = URLRequest(url: graphQLEndpoint, headers: request.headers(), timeoutInterval: requestTimeout ?? 0)
    sent.headers.describeForm(boundary: boundary, unlessIn: additionalHeaders)
    sent.body = .stream(try body())
    sent.isIdempotent = operation.operationType != .mutation
    return sent
  }

  /// The form: the operation and the map at once, then each piece as it arrives.
  private func body() throws -> PullStream<Data> {
    // An interceptor may have replaced the variables; the replacement is valid JSON.
    let variables = try wireOverrides.variables.map { try JSONValue(parsing: $0.bytes) } ?? .object(operation.variables)
    for place in form.files.lazy.flatMap(\.places) where JSONValue.object(["variables": variables]).value(at: place) != .null {
      throw RequestChainError(
        .invalidRequest,
        "\(place) must be null, because a file of the upload belongs there; correct the interceptor that changed the variables")
    }
    let writer = UploadForm(boundary: boundary)
    let opening = writer.opening(operations: request.body(), files: form.files)
    let (form, progress) = (form, UploadProgress())
    return PullStream {
      if !progress.hasBegun {
        try form.take()
        progress.hasBegun = true
        return .element(Data(opening))
      }
      switch try await form.next() {
      case .file(let name, let fileName, let mediaType):
        return .element(Data(writer.fileHead(name: name, fileName: fileName, mediaType: mediaType)))
      case .bytes(let bytes): return .element(bytes)
      case nil: return .last(Data(writer.closing))
      }
    }
  }
}

/// The progress of the body of an upload.
private final class UploadProgress: @unchecked Sendable {
  // A stream has one consumer at a time.

  var hasBegun = false
}

extension HTTPHeaders {
  /// Sets the fields of a request whose body is a form.
  mutating func describeForm(boundary: String, unlessIn additional: HTTPHeaders) {
    self["Content-Type"] = "multipart/form-data; boundary=\(boundary)"
    // Any web page can send a form without preflight. Servers accept it only with a header that a web page cannot set.
    if additional["Apollo-Require-Preflight"] == nil { add(name: "Apollo-Require-Preflight", value: "true") }
  }
}

extension JSONValue {
  /// The value at a path such as `variables.files.0`; nil if there is none.
  package func value(at path: String) -> JSONValue? {
    var value = self
    for step in path.split(separator: ".", omittingEmptySubsequences: false) {
      switch value {
      case .object(let object):
        guard let next = object[String(step)] else { return nil }
        value = next
      case .array(let list):
        guard step.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let index = Int(step), list.indices.contains(index) else {
          return nil
        }
        value = list[index]
      default: return nil
      }
    }
    return value
  }
}
