internal import Carabiner
internal import CarabinerCurl
internal import CarabinerManifest
internal import CarabinerRelease
internal import FoundationEssentials

/// One pass over the plugins of a manifest.
struct DownloadRound {
  let manifest: Manifest
  let entries: [DownloadEntry]
  let cache: PluginCache
  let limits: DownloadLimits
  private(set) var found = DownloadedPlugins()
  /// By the file of certificate authorities, for URLs with TLS and without.
  private var downloaders: [Route: Downloader] = [:]

  private struct Route: Hashable {
    let authorityFile: String?
    let isPlain: Bool
  }

  init(manifest: Manifest, entries: [DownloadEntry], cache: PluginCache, limits: DownloadLimits) {
    self.manifest = manifest
    self.entries = entries
    self.cache = cache
    self.limits = limits
    found.folder = cache.folder
  }

  /// Finds or downloads each file once.
  ///
  /// - Throws: ``ManifestError`` with all failures.
  mutating func downloadFiles() throws {
    var missing: [DownloadEntry] = []
    var jobs: [DownloadQueue.Job<CachedPlugin>] = []
    for entry in entries where found.files[entry.digest] == nil && !missing.contains(where: { $0.digest == entry.digest }) {
      do throws(DownloadError) {
        if let file = try cache.file(entry.digest) {
          found.files[entry.digest] = file
          continue
        }
      } catch {
        throw entry.problem(error)
      }
      let (downloader, request) = try request(entry, entry.url, limits.maximumFileBytes, within: limits.timeout)
      missing.append(entry)
      jobs.append { [cache] in await downloader.file(request, entry.digest, into: cache) }
    }
    var problems: [ManifestProblem] = []
    for (entry, result) in zip(missing, run(jobs)) {
      do throws(DownloadError) {
        found.files[entry.digest] = try result.get()
      } catch {
        problems.append(entry.problem(error))
      }
    }
    guard problems.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(problems)) }
  }

  /// Finds the files that are there.
  mutating func findFiles() {
    for entry in entries where found.files[entry.digest] == nil { found.files[entry.digest] = try? cache.file(entry.digest) }
  }

  /// Asks for the sidecar of each entry.
  mutating func downloadSidecars() throws {
    var jobs: [DownloadQueue.Job<[UInt8]>] = []
    for entry in entries {
      let (downloader, request) = try request(
        entry, entry.sidecarURL, ReleaseSidecar.maximumBytes, within: min(limits.timeout, limits.sidecarTimeout))
      jobs.append { await downloader.bytes(request) }
    }
    for (entry, result) in zip(entries, run(jobs)) {
      let path = cache.sidecar(of: entry.digest, from: entry.url)
      do throws(DownloadError) {
        found.sidecars[entry.name] = PluginSidecar(cache, path: path, renewed: try sidecar(try result.get(), of: entry))
      } catch {
        found.sidecars[entry.name] = PluginSidecar(cache, path: path, renewed: nil)
        found.warnings.append(
          ManifestProblem(
            .downloadFailed, at: entry.pointer, "the sidecar was not renewed, and a kept one is used: \(error.message)"))
      }
    }
    found.warnings = manifest.placed(found.warnings)
  }

  /// The bytes of a sidecar, if they are one of this file.
  private func sidecar(_ bytes: [UInt8], of entry: DownloadEntry) throws(DownloadError) -> [UInt8] {
    guard (try? ReleaseSidecar(parsing: bytes))?.statement.file.digest == entry.digest else {
      throw DownloadError(
        .refused, "\(PrintableURL(entry.sidecarURL).withoutQuery) is not a sidecar of this file; publish the right one there")
    }
    return bytes
  }

  private mutating func request(
    _ entry: DownloadEntry, _ url: String, _ maximumBytes: Int, within timeout: Duration
  ) throws(ManifestProblem) -> (Downloader, Downloader.Request) {
    let settings = manifest.download(for: entry.url)
    let secrets = SecretReferences(directory: manifest.directory)
    let headers = try settings.map { settings throws(ManifestProblem) in try manifest.resolvedHeaders(of: settings, secrets) }
    let route = Route(authorityFile: settings?.certificateAuthorityFile, isPlain: url.lowercased().hasPrefix("http:"))
    let wanted = Downloader.Request(url: url, headers: headers ?? [:], maximumBytes: maximumBytes, timeout: timeout)
    if let downloader = downloaders[route] { return (downloader, wanted) }
    do throws(DownloadError) {
      let downloader = try Downloader(certificateAuthorityFile: route.authorityFile, usesProxy: !route.isPlain, limits)
      downloaders[route] = downloader
      return (downloader, wanted)
    } catch {
      throw entry.problem(error)
    }
  }

  private func run<Value: Sendable>(_ jobs: [DownloadQueue.Job<Value>]) -> [Result<Value, DownloadError>] {
    guard let loop = downloaders.values.first?.loop else { return [] }
    return DownloadQueue.run(jobs, atOnce: limits.concurrency, on: loop)
  }
}
