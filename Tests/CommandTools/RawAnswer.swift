public import Foundation
internal import TestTools

/// A running request of curl, which knows nothing about GraphQL.
public struct RawRequest: Sendable {
  private let process = ChildProcess()
  private let output = Pipe.notInherited()

  /// Starts the request.
  ///
  /// - Parameter seconds: The time limit of the transfer.
  public init(
    _ url: String, method: String? = nil, body: String? = nil, headers: [String] = [], within seconds: Double = 600
  ) throws {
    let isLarge = body.map { $0.utf8.count > 10_000 } ?? false
    process.executableURL = URL(filePath: "/usr/bin/curl")
    var arguments = ["-sS", "-i", "-N", "--max-time", "\(seconds)", "-H", "Content-Type: application/json"]
    if let method { arguments += ["-X", method] }
    arguments += headers.flatMap { ["-H", $0] }
    if let body { arguments += ["--data-binary", isLarge ? "@-" : body] }
    process.arguments = arguments + [url]
    let input = Pipe.notInherited()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // curl reads all of its input before it sends any.
    if let body, isLarge { try input.fileHandleForWriting.write(contentsOf: Data(body.utf8)) }
    try input.fileHandleForWriting.close()
  }

  /// Waits for the response.
  public func answer() -> RawAnswer {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return RawAnswer(data, curlStatus: process.terminationStatus)
  }
}

/// A response byte by byte, without the borders of its chunks.
public struct RawAnswer: Sendable {
  /// The status in the first line; 0 if there is none.
  public let status: Int
  /// The head's lines.
  public let head: [String]
  /// The bytes after the head.
  public let body: Data
  /// The exit status of curl; 28 if the transfer reached its time limit.
  public let curlStatus: Int32

  /// The body as text.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// Parses the output of curl.
  public init(_ data: Data, curlStatus: Int32) {
    let end = data.firstRange(of: Data("\r\n\r\n".utf8))
    head = String(decoding: data[..<(end?.lowerBound ?? data.endIndex)], as: UTF8.self).components(separatedBy: "\r\n")
    body = Data(data[(end?.upperBound ?? data.endIndex)...])
    status = head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    self.curlStatus = curlStatus
  }

  /// Sends a request and waits for the response.
  public init(
    _ url: String, method: String? = nil, body: String? = nil, headers: [String] = [], within seconds: Double = 600
  ) throws {
    self = try RawRequest(url, method: method, body: body, headers: headers, within: seconds).answer()
  }
}
