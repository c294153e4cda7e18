internal import CarabinerFiles
internal import CarabinerGateway
package import CarabinerManifest

extension Manifest {
  /// The rules of the manifest for clients; nil if there are none.
  ///
  /// - Throws: ``ManifestError`` if a list of operations cannot be used.
  func clientPolicy() throws -> ClientPolicy? {
    guard serve.cors != nil || serve.operations != nil || serve.compression != nil else { return nil }
    return ClientPolicy(
      crossOrigin: serve.cors.map { CrossOriginRule($0) }, operations: try serve.operations.map { try rules($0) },
      compression: serve.compression.map { CompressionRule($0) })
  }

  /// The problems of the lists of operations that the manifest names.
  package func operationListProblems() -> [ManifestProblem] {
    guard let list = serve.operations?.allow else { return [] }
    do throws(ManifestProblem) {
      _ = try OperationList(list)
      return []
    } catch {
      return placed([error])
    }
  }

  private func rules(_ operations: Operations) throws -> OperationRules {
    do throws(ManifestProblem) {
      var list: OperationList?
      if let allow = operations.allow { list = try OperationList(allow) }
      return OperationRules(
        list: list, limits: operations.limits, allowsIntrospection: operations.allowsIntrospection,
        keepsDescriptions: operations.keepsDescriptions)
    } catch {
      throw ManifestError(path: path, problems: placed([error]))
    }
  }
}

extension OperationList {
  /// Reads the files of a list.
  fileprivate init(_ list: Manifest.AllowList) throws(ManifestProblem) {
    self.init(list.mode)
    for file in list.files {
      let bytes: [UInt8]
      do throws(BoundedFile.Fault) {
        bytes = try BoundedFile.bytes(at: file.path, maximumBytes: Self.maximumFileBytes)
      } catch {
        let reason =
          switch error {
          case .tooLarge: "has more than 64 MiB; divide it into several files"
          case .unreadable(let reason): "cannot be read: \(reason); check the path and its permissions"
          case .notText: "is not text; is it the right file?"
          }
        throw ManifestProblem(.unreadable, at: file.pointer, "the list of operations \(file.path) \(reason)")
      }
      do throws(Fault) {
        try add(BoundedFile.withoutMark(bytes))
      } catch {
        throw ManifestProblem(.invalidValue, at: file.pointer, "the list of operations \(file.path) cannot be used: \(error)")
      }
    }
  }
}

extension CompressionRule {
  fileprivate init(_ compression: Manifest.Compression) {
    self.init(
      codings: compression.encodings.compactMap { ContentCoding(rawValue: $0.rawValue) }, minimum: compression.minimumBytes,
      level: compression.level)
  }
}

extension CrossOriginRule {
  fileprivate init(_ cors: Manifest.CORS) {
    self.init(
      origins: cors.origins, headers: cors.headers, exposed: cors.exposedHeaders, allowsCredentials: cors.allowsCredentials,
      maximumAge: cors.maximumAge)
  }
}
