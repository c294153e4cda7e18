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
    let placed = try FileVariables(operations["variables"]?.object ?? [:], files: files)
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
      text += Array(
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(index)\"; filename=\"\(file.originalName.escapedForForms)\"\r\n"
          .utf8)
      text += Array("Content-Type: \(file.mimeType)\r\n\r\n".utf8)
      body.append(.data(Data(text)))
      body.append(try file.segment())
      text = Array("\r\n".utf8)
    }
    text += Array("--\(boundary)--\r\n".utf8)
    body.append(.data(Data(text)))
    return body
  }

  private func field(_ name: String, _ json: [UInt8]) -> [UInt8] {
    Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\nContent-Type: application/json\r\n\r\n".utf8)
      + json + Array("\r\n".utf8)
  }

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
