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
  /// By the file of certificate authorities.
  private var downloaders: [String?: Downloader] = [:]

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
  mutating func bringFiles() throws {
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
      let (downloader, request) = try request(entry, entry.url, limits.maximumFileBytes)
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

  /// Asks for the sidecar of each entry.
  mutating func bringSidecars() throws {
    var jobs: [DownloadQueue.Job<[UInt8]>] = []
    for entry in entries {
      let (downloader, request) = try request(entry, entry.sidecarURL, ReleaseSidecar.maximumBytes)
      jobs.append { await downloader.bytes(request) }
    }
    for (entry, result) in zip(entries, run(jobs)) {
      let path = cache.sidecar(of: entry.digest, from: entry.url)
      found.sidecars[entry.name] = path
      do throws(DownloadError) {
        try keep(try result.get(), of: entry, at: path)
      } catch {
        found.warnings.append(
          ManifestProblem(
            .downloadFailed, at: entry.pointer, "the sidecar was not renewed, and a kept one is used: \(error.message)"))
      }
    }
    found.warnings = manifest.placed(found.warnings)
  }

  /// Keeps a sidecar, unless it is useless and there is one already.
  private func keep(_ bytes: [UInt8], of entry: DownloadEntry, at path: String) throws(DownloadError) {
    let kept = try? ReleaseFile.sidecar(at: path)
    guard kept != bytes else { return }
    guard kept == nil || (try? ReleaseSidecar(parsing: bytes))?.statement.file.digest == entry.digest else {
      throw DownloadError(
        .refused, "\(PrintableURL(entry.sidecarURL)) is not a sidecar of this file; publish the right one there")
    }
    try cache.keep(bytes, at: path)
  }

  private mutating func request(
    _ entry: DownloadEntry, _ url: String, _ maximumBytes: Int
  ) throws(ManifestProblem) -> (Downloader, Downloader.Request) {
    let settings = manifest.download(for: entry.url)
    let secrets = SecretReferences(directory: manifest.directory)
    let headers = try settings.map { settings throws(ManifestProblem) in try manifest.resolvedHeaders(of: settings, secrets) }
    let file = settings?.certificateAuthorityFile
    let wanted = Downloader.Request(url: url, headers: headers ?? [:], maximumBytes: maximumBytes)
    if let downloader = downloaders[file] { return (downloader, wanted) }
    do throws(DownloadError) {
      let downloader = try Downloader(certificateAuthorityFile: file, limits)
      downloaders[file] = downloader
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
