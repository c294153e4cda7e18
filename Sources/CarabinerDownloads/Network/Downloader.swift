internal import Carabiner
internal import CarabinerCurl
internal import CarabinerManifest
internal import FoundationEssentials

/// Requests files by GET, under the rules for downloads.
struct Downloader: Sendable {
  /// One file to request.
  struct Request: Sendable {
    let url: String
    /// Headers for the host of the URL, and no other.
    let headers: HTTPHeaders
    let maximumBytes: Int
    /// The time for all of it, redirects included.
    let timeout: Duration
  }

  private let transport: CurlTransport
  private let limits: DownloadLimits

  /// - Parameters:
  ///   - certificateAuthorityFile: The path of a PEM file with the authorities to trust; nil for those of the system.
  ///   - usesProxy: Whether the proxies of the environment are used. Requests without TLS must not leave the machine.
  init(certificateAuthorityFile: String?, usesProxy: Bool, _ limits: DownloadLimits) throws(DownloadError) {
    var configuration = CurlTransport.Configuration()
    if !usesProxy { configuration.proxy = .none }
    configuration.totalTimeout = limits.timeout / .seconds(1)
    configuration.maximumBodyBytes = limits.maximumFileBytes
    configuration.returnsRedirects = true
    configuration.acceptsCompression = false
    configuration.certificateAuthorityFile = certificateAuthorityFile
    do {
      transport = try CurlTransport(configuration: configuration)
    } catch {
      throw DownloadError(.network, "nothing can be downloaded: \(error)")
    }
    self.limits = limits
  }

  /// The thread on which files are written too: it serves no client.
  var loop: EventLoop { transport.loop }

  /// Downloads a file into a folder, by its digest.
  func file(_ wanted: Request, _ digest: String, into cache: PluginCache) async -> Result<CachedPlugin, DownloadError> {
    do throws(DownloadError) {
      var file = try PartialFile(in: cache)
      try await get(wanted) { data throws(DownloadError) in try file.append(data) }
      return .success(try file.place(digest, from: PrintableURL(wanted.url).withoutQuery))
    } catch {
      return .failure(error)
    }
  }

  /// Downloads a small file.
  func bytes(_ wanted: Request) async -> Result<[UInt8], DownloadError> {
    do throws(DownloadError) {
      var bytes: [UInt8] = []
      try await get(wanted) { data throws(DownloadError) in bytes += data }
      return .success(bytes)
    } catch {
      return .failure(error)
    }
  }

  /// Downloads one file.
  ///
  /// - Parameter receive: Called with each piece of the file.
  /// - Throws: ``DownloadError``, also that of `receive`.
  private func get(_ wanted: Request, receive: (Data) throws(DownloadError) -> Void) async throws(DownloadError) {
    do {
      let response = try await response(to: wanted)
      guard response.declaredBytes ?? 0 <= wanted.maximumBytes else { throw tooLarge(wanted) }
      var count = 0
      for try await chunk in response.chunks {
        count += chunk.count
        guard count <= wanted.maximumBytes else { throw tooLarge(wanted) }
        try receive(chunk)
      }
    } catch let error as DownloadError {
      throw error
    } catch {
      throw Self.failure(error, wanted.url)
    }
  }

  /// The response with the file, after all redirects.
  private func response(to wanted: Request) async throws -> HTTPResponse {
    let deadline = ContinuousClock.now + wanted.timeout
    guard var url = URL(string: wanted.url) else { throw refusal(wanted, "it is not a URL; correct it") }
    let origin = Origin(of: url)
    var redirects = 0
    while true {
      var request = URLRequest(url: url, httpMethod: "GET")
      if Origin(of: url) == origin { request.headers = wanted.headers }
      request.timeoutInterval = max((deadline - .now) / .seconds(1), 0.001)
      let response = try await transport.send(request)
      guard [301, 302, 303, 307, 308].contains(response.response.statusCode) else {
        guard response.response.statusCode == 200 else { throw refusal(wanted, response.response.statusCode) }
        return response
      }
      redirects += 1
      guard redirects <= limits.maximumRedirects else {
        throw refusal(
          wanted, "the server redirects more than \(limits.maximumRedirects) times; write the final URL")
      }
      guard let target = response.response.headers["Location"],
        let next = URL(string: target, relativeTo: url)?.absoluteURL, next.host()?.isEmpty == false
      else { throw refusal(wanted, "the server redirects without a URL; write the final one") }
      guard DownloadURL.isAllowed(next), url.scheme?.lowercased() == "http" || next.scheme?.lowercased() == "https" else {
        throw refusal(
          wanted,
          "the server redirects to \(PrintableURL(next).withoutQuery), which is not https; write a URL that leads to https only")
      }
      url = next
    }
  }

  private func tooLarge(_ wanted: Request) -> DownloadError {
    DownloadError(
      .tooLarge,
      "\(PrintableURL(wanted.url).withoutQuery) has more than the \(wanted.maximumBytes) bytes allowed; is it the right file?")
  }

  private func refusal(_ wanted: Request, _ status: Int) -> DownloadError {
    let advice =
      switch status {
      case 401, 403, 407: "write downloads: with the headers that it needs"
      case 404, 410: "publish the file, or correct the URL"
      default: "try again later, or ask the server's operator"
      }
    return refusal(wanted, "the server answers with the status \(status); \(advice)")
  }

  private func refusal(_ wanted: Request, _ reason: String) -> DownloadError {
    DownloadError(.refused, "\(PrintableURL(wanted.url).withoutQuery) cannot be downloaded: \(reason)")
  }

  private static func failure(_ error: any Error, _ url: String) -> DownloadError {
    let source = PrintableURL(url).withoutQuery
    guard let error = error as? TransportError else {
      return DownloadError(.network, "\(source) cannot be downloaded: \(error)")
    }
    let code: DownloadError.Code =
      switch error.code {
      case .timedOut: .timedOut
      case .bodyTooLarge: .tooLarge
      default: .network
      }
    let advice = error.code == .tls ? "; if the server has its own authority, write downloads: with ca-file" : ""
    return DownloadError(code, "\(source) cannot be downloaded: \(error.message)\(advice)")
  }

  /// Where a request goes. Another origin gets none of the headers.
  private struct Origin: Equatable {
    let scheme: String?
    let host: String?
    let port: Int?

    init(of url: URL) {
      scheme = url.scheme?.lowercased()
      host = url.host()?.lowercased()
      port = url.port ?? (scheme == "https" ? 443 : 80)
    }
  }
}
