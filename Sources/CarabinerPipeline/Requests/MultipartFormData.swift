internal import Carabiner
public import FoundationEssentials

/// The parts of a form, as `multipart/form-data` has them.
public final class MultipartFormData {
  /// The text between the parts. It must not occur in any.
  public let boundary: String
  private var segments: [SegmentedBody.Segment] = []
  private var invalidContentType: String?

  /// A form without parts.
  public init(boundary: String) { self.boundary = boundary }

  /// A form without parts, with a random boundary.
  public convenience init() { self.init(boundary: "carabiner.\(UUID().uuidString)") }

  /// A form with the parts of a finished one.
  convenience init(boundary: String, form: SegmentedBody) {
    self.init(boundary: boundary)
    // The last segment is the end of the last file and the closing delimiter.
    segments = form.segments.dropLast() + [.data(Data("\r\n".utf8))]
  }

  /// Adds a text.
  public func appendPart(string: String, name: String) { appendPart(data: Data(string.utf8), name: name) }

  /// Adds bytes.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - name: The name of the part.
  ///   - contentType: The media type; nil for none.
  ///   - filename: The name of the file that the bytes come from; nil for none.
  public func appendPart(data: Data, name: String, contentType: String? = nil, filename: String? = nil) {
    var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name.escapedForForms)\""
    if let filename { head += "; filename=\"\(filename.escapedForForms)\"" }
    if let contentType {
      if !contentType.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { invalidContentType = contentType }
      head += "\r\nContent-Type: \(contentType)"
    }
    segments += [.data(Data("\(head)\r\n\r\n".utf8)), .data(data), .data(Data("\r\n".utf8))]
  }

  /// The form as bytes. Files on disk are read.
  ///
  /// - Throws: ``Carabiner/RequestChainError`` if a media type is malformed; an error if a file cannot be read.
  public func encode() throws -> Data {
    try body().segments.reduce(into: Data()) { data, segment in
      switch segment {
      case .data(let bytes): data += bytes
      case .file(let path, _): data += try Data(contentsOf: URL(filePath: path))
      }
    }
  }

  /// The form as a body.
  ///
  /// - Throws: ``Carabiner/RequestChainError`` if a media type is malformed.
  func body() throws -> SegmentedBody {
    if let invalidContentType {
      throw RequestChainError(
        .invalidRequest, "\(invalidContentType.debugDescription) is not a media type; correct that of the part")
    }
    var body = SegmentedBody()
    for segment in segments { body.append(segment) }
    body.append(.data(Data("--\(boundary)--\r\n".utf8)))
    return body
  }
}
