internal import Carabiner
internal import CarabinerCurl
internal import FoundationEssentials

/// Requests to the web server of a manifest.
final class WebConnection: Sendable {
  private static let maximumRedirects = 3

  private let transport: CurlTransport
  private let login: HTTPHeaders
  private let timeout: Duration

  /// - Throws: ``SourceError`` if the password cannot be read, or an error of the system if there are no descriptors or threads left.
  init(_ settings: SourceSettings, to address: WebAddress) throws {
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = settings.authorityFile
    configuration.clientCertificateFile = settings.certificateFile
    configuration.clientKeyFile = settings.keyFile
    configuration.connectTimeout = settings.timeout / .seconds(1)
    configuration.totalTimeout = settings.timeout / .seconds(1)
    configuration.returnsRedirects = true
    configuration.acceptsCompression = false
    // Requests without TLS must not leave the machine.
    if address.url.scheme?.lowercased() == "http" { configuration.proxy = .none }
    transport = try CurlTransport(configuration: configuration)
    timeout = settings.timeout
    login =
      try settings.login.map { login throws(SourceError) in
        let text = "\(login.user):\(try settings.password(of: login))"
        return ["Authorization": "Basic \(Data(text.utf8).base64EncodedString())"]
      } ?? [:]
  }

  /// Requests a file.
  ///
  /// - Parameters:
  ///   - validator: The entity tag of the version that is known; nil for none.
  ///   - label: The URL without its query, for messages.
  /// - Throws: ``SourceError``.
  func get(
    _ url: URL, knowing validator: String?, maximumBytes: Int, _ label: String
  ) async throws(SourceError) -> WebAnswer {
    do {
      return try await answer(url, validator, maximumBytes, label)
    } catch let error as SourceError {
      throw error
    } catch let error as TransportError {
      throw SourceError(.unavailable, "\(label) cannot be read: \(error.message)")
    } catch {
      throw SourceError(.unavailable, "\(label) cannot be read: \(error)")
    }
  }

  private func answer(_ url: URL, _ validator: String?, _ maximumBytes: Int, _ label: String) async throws -> WebAnswer {
    let deadline = ContinuousClock.now + timeout
    var target = url
    for _ in 0...Self.maximumRedirects {
      var request = URLRequest(url: target, httpMethod: "GET")
      request.headers = login
      if let validator { request.headers["If-None-Match"] = validator }
      request.timeoutInterval = max((deadline - .now) / .seconds(1), 0.001)
      let response = try await transport.send(request)
      switch response.response.statusCode {
      case 200:
        return .bytes(try await body(of: response, maximumBytes, label), validator: response.response.headers["ETag"])
      case 304 where validator != nil: return .unchanged
      case 404, 410: return .missing
      case 301, 302, 303, 307, 308: target = try Self.target(of: response, from: target, label)
      case let status: throw Self.refusal(status, label)
      }
    }
    throw SourceError(.refused, "\(label) is redirected more than \(Self.maximumRedirects) times; write the final URL")
  }

  /// The target of a redirect, which must be on the same host: it gets the login, and decides what runs here.
  private static func target(of response: HTTPResponse, from url: URL, _ label: String) throws(SourceError) -> URL {
    guard let text = response.response.headers["Location"], let target = URL(string: text, relativeTo: url)?.absoluteURL,
      target.scheme?.lowercased() == url.scheme?.lowercased(), target.host()?.lowercased() == url.host()?.lowercased(),
      target.port == url.port, target.user() == nil
    else { throw SourceError(.refused, "\(label) is redirected to another host, which is not followed; write the final URL") }
    return target
  }

  private func body(of response: HTTPResponse, _ maximumBytes: Int, _ label: String) async throws -> [UInt8] {
    let tooLarge = SourceError(.malformed, "\(label) has more than \(maximumBytes) bytes; is it the right file?")
    guard response.declaredBytes ?? 0 <= maximumBytes else { throw tooLarge }
    var bytes: [UInt8] = []
    for try await chunk in response.chunks {
      guard bytes.count + chunk.count <= maximumBytes else { throw tooLarge }
      bytes.append(contentsOf: chunk)
    }
    return bytes
  }

  private static func refusal(_ status: Int, _ label: String) -> SourceError {
    let (code, advice): (SourceError.Code, String) =
      switch status {
      case 401: (.unauthenticated, "set --source-user and --source-password-file")
      case 403: (.denied, "let the user read it")
      case 500...599: (.unavailable, "look at the server's log")
      default: (.refused, "check the URL")
      }
    return SourceError(code, "\(label): the server answers with the status \(status); \(advice)")
  }
}

/// The answer of a web server to a request for a file.
enum WebAnswer: Sendable {
  /// The file, and its entity tag; nil if it has none.
  case bytes([UInt8], validator: String?)
  /// The file is the one that was known.
  case unchanged
  case missing
}
