internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import NIOCore
internal import NIOFoundationCompat

/// Reads a form of the GraphQL multipart request specification while it arrives: `operations`, `map`, and the files.
final class InboundForm: @unchecked Sendable {
  // One task at a time reads a form: first the one that begins the operation, then the one that sends the request.

  /// The maximum size of the headers of a part, in bytes.
  private static let maximumPartHeadBytes = 8 << 10
  /// The maximum number of bytes before the first part.
  private static let maximumPreambleBytes = 1 << 10

  private let body: InboundBody
  private let limits: GatewayLimits
  private var reader: MultipartReader
  private var files: [String: UploadedForm.File] = [:]
  /// The headers of the part after the map, if they have been read.
  private var next: [MultipartPart.Header]?
  private var fileBytes = 0

  /// - Throws: A refusal if the content type has no boundary.
  init(_ body: InboundBody, contentType: String?, limits: GatewayLimits) throws(RequestRefusal) {
    guard let type = contentType.flatMap({ MediaType($0) }) else { throw .form("the Content-Type of the form is malformed") }
    do {
      let bounds = MultipartLimits(
        maximumPartBytes: Self.maximumPreambleBytes, maximumHeaderBytes: Self.maximumPartHeadBytes)
      reader = MultipartReader(boundary: try MultipartBoundary(contentType: type), limits: bounds)
    } catch {
      throw .form("the Content-Type of the form has no valid boundary")
    }
    self.body = body
    self.limits = limits
  }

  // MARK: The operation

  /// The body of the operation, as in a request without files.
  func operations() async throws -> [UInt8] {
    try await field("operations", maximumBytes: limits.maximumBodyBytes, limit: "maximum-body")
  }

  /// The files, which are read from the rest of the body; nil for a form without files.
  ///
  /// - Parameter variables: The variables of the operation.
  func uploadedForm(_ variables: JSONObject) async throws -> UploadedForm? {
    let bytes = try await field("map", maximumBytes: UploadMap.maximumBytes, limit: "a fixed limit")
    let map = try UploadMap(bytes, variables: variables, maximumFiles: limits.maximumFiles)
    for file in map.files { files[file.name] = file }
    if files.isEmpty || next == nil {
      // Reads to the end of the form, and fails if a part or a file is not expected.
      _ = try await filePiece()
      return nil
    }
    return UploadedForm(files: map.files, pieces: PullStream { try await self.filePiece().map { .element($0) } ?? .end })
  }

  /// The content of a part that must be the next one.
  ///
  /// - Parameter limit: The name of the maximum, for the message.
  private func field(_ name: String, maximumBytes: Int, limit: String) async throws -> [UInt8] {
    let headers: [MultipartPart.Header]
    if let next {
      headers = next
    } else {
      guard case .part(let first)? = try await piece() else { throw RequestRefusal.form("the form has no part \(name)") }
      headers = first
    }
    let part = try PartDisposition(headers)
    guard part.name == name else {
      throw RequestRefusal.form(
        "the form has the part \(UploadMap.quoted(part.name)) where \(name) is expected; send operations, map, and then the files"
      )
    }
    var content: [UInt8] = []
    while true {
      switch try await piece() {
      case .bytes(let bytes):
        guard content.count + bytes.count <= maximumBytes else {
          throw RequestRefusal(
            413, "the part \(name) is longer than \(maximumBytes) bytes (\(limit))", code: "PAYLOAD_TOO_LARGE")
        }
        content += bytes
      case .part(let headers):
        next = headers
        return content
      case nil:
        next = nil
        return content
      }
    }
  }

  // MARK: The files

  private func filePiece() async throws -> UploadedForm.Piece? {
    if let headers = next {
      next = nil
      return try begin(headers)
    }
    switch try await piece() {
    case .part(let headers): return try begin(headers)
    case .bytes(let bytes):
      fileBytes += bytes.count
      guard fileBytes <= limits.maximumFileBytes else { throw RequestRefusal.fileTooLarge(limits.maximumFileBytes) }
      return .bytes(Data(bytes))
    case nil:
      if let missing = files.keys.min() {
        throw RequestRefusal.form("the form ends, and the file \(UploadMap.quoted(missing)) of map has not come")
      }
      // The answer may follow at once, and the connection stays open only if the body has ended before it.
      while try await body.next() != nil {}
      return nil
    }
  }

  private func begin(_ headers: [MultipartPart.Header]) throws -> UploadedForm.Piece {
    let part = try PartDisposition(headers)
    guard files.removeValue(forKey: part.name) != nil else {
      throw RequestRefusal.form(
        "the part \(UploadMap.quoted(part.name)) is a file that map does not name, or a part that the form has twice")
    }
    fileBytes = 0
    return .file(name: part.name, fileName: part.fileName ?? part.name, mediaType: part.mediaType)
  }

  // MARK: The body

  private func piece() async throws -> MultipartPiece? {
    while true {
      do {
        if let piece = try reader.nextPiece() { return piece }
      } catch {
        throw RequestRefusal(error)
      }
      if reader.isClosed { return nil }
      if let bytes = try await body.next() { reader.append(bytes.readableBytesView) } else { reader.finish() }
    }
  }
}

extension RequestRefusal {
  /// The refusal of a body that is not a valid form.
  fileprivate init(_ error: any Error) {
    let text =
      switch (error as? MultipartError)?.code {
      case .truncated: "it ends before its close delimiter"
      case .malformedHeader: "a header of a part is malformed"
      case .headerTooLarge: "the headers of a part are too long"
      case .partTooLarge: "the first part does not begin where it should"
      case .malformedDelimiter, .missingBoundary, .invalidBoundary, nil: "its delimiters are malformed"
      }
    self = .form("the body is not a valid multipart/form-data: \(text)")
  }
}
