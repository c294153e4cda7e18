package import CarabinerWire
internal import FoundationEssentials

/// Writes the body of an upload, by the GraphQL multipart request specification.
package struct UploadForm {
  /// The separator of the parts; it must not occur in a part.
  let boundary: String

  /// A form with this boundary.
  package init(boundary: String) { self.boundary = boundary }

  /// The form of a whole request body. Its `variables` get null wherever a file belongs.
  ///
  /// - Throws: ``RequestChainError`` with code `invalidRequest`, for example if a file cannot be read.
  package func body(operations: JSONObject, files: [GraphQLFile]) throws -> SegmentedBody {
    guard !files.isEmpty else { throw RequestChainError(.invalidRequest, "the upload has no file; add a file") }
    var operations = operations
    let placed = try FileVariables(
      operations["variables"]?.object ?? [:], files: files, document: operations["query"]?.string ?? "",
      operationName: operations["operationName"]?.string)
    operations["variables"] = placed.value
    return try body(operations: JSONValue.object(operations).serialized(sortedKeys: true), places: placed.places, files: files)
  }

  /// The form: the operation, the map that says which file is which variable, and the files.
  ///
  /// - Parameters:
  ///   - operations: The JSON of the operation, with null wherever a file belongs.
  ///   - places: Where in the variables each file belongs.
  ///   - files: The files.
  func body(operations: [UInt8], places: [String], files: [GraphQLFile]) throws -> SegmentedBody {
    var body = SegmentedBody()
    var text = field("operations", operations)
    text += field("map", map(places))
    for (index, file) in files.enumerated() {
      guard file.mimeType.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
        throw RequestChainError(
          .invalidRequest, "\(file.mimeType.debugDescription) is not a media type; correct that of \(file.fieldName)")
      }
      text += head(name: "\(index)", fileName: file.originalName, mediaType: file.mimeType)
      body.append(.data(Data(text)))
      body.append(try file.segment())
      text = Array("\r\n".utf8)
    }
    text += closeDelimiter
    body.append(.data(Data(text)))
    return body
  }

  private var closeDelimiter: [UInt8] { Array("--\(boundary)--\r\n".utf8) }

  private func head(name: String, fileName: String, mediaType: String) -> [UInt8] {
    Array(
      "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name.escapedForForms)\"; filename=\"\(fileName.escapedForForms)\"\r\n"
        .utf8) + Array("Content-Type: \(mediaType)\r\n\r\n".utf8)
  }

  private func field(_ name: String, _ json: [UInt8]) -> [UInt8] {
    Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\nContent-Type: application/json\r\n\r\n".utf8)
      + json + Array("\r\n".utf8)
  }

  // MARK: A form in pieces

  /// The parts before the files, without the line break after them.
  func opening(operations: [UInt8], files: [UploadedForm.File]) -> [UInt8] {
    let map = JSONObject(files.map { (key: $0.name, value: JSONValue.array($0.places.map { .string($0) })) })
    let fields = field("operations", operations) + field("map", JSONValue.object(map).serialized())
    return Array(fields.dropLast(2))
  }

  /// The end of the part before, and the headers of a file.
  func fileHead(name: String, fileName: String, mediaType: String) -> [UInt8] {
    Array("\r\n".utf8) + head(name: name, fileName: fileName, mediaType: mediaType)
  }

  /// The end of the last part and of the form.
  var closing: [UInt8] { Array("\r\n".utf8) + closeDelimiter }

  private func map(_ places: [String]) -> [UInt8] {
    let members = places.enumerated().map { (key: "\($0)", value: JSONValue.array([.string("variables.\($1)")])) }
    return JSONValue.object(JSONObject(members)).serialized()
  }
}

extension String {
  /// The text inside the quotes of a form's file name, as browsers write it.
  package var escapedForForms: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": escaped += "%22"
      case "\r": escaped += "%0D"
      case "\n": escaped += "%0A"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
