package import Carabiner
internal import CarabinerWire

extension Manifest {
  /// The same manifest with one plugin and no lists, to start this plugin alone.
  package func onlyPlugin(_ name: String) -> Manifest {
    var manifest = without { $0 != name }
    manifest.lists = Lists()
    manifest.rules = []
    // The plugin is started even if the manifest disables it.
    for index in manifest.plugins.indices { manifest.plugins[index].isEnabled = true }
    return manifest
  }

  /// The same manifest without some of its plugins; entries in lists that name them stay.
  package func without(_ isLeftOut: (String) -> Bool) -> Manifest {
    var manifest = self
    manifest.plugins.removeAll { isLeftOut($0.name) }
    return manifest
  }

  /// The endpoint with its references resolved; nil if the manifest has no endpoint.
  ///
  /// - Throws: ``ManifestError`` with the reference that cannot be resolved.
  package func resolvedEndpoint(_ secrets: SecretReferences) throws -> SecretText? {
    guard let endpoint else { return nil }
    do throws(ManifestProblem) {
      return try secrets.secret(endpoint, at: JSONPointer().appending("endpoint"))
    } catch {
      throw ManifestError(path: path, problems: placed([error]))
    }
  }

  /// The endpoints of an upstream with their references resolved, in order.
  ///
  /// - Throws: ``ManifestError`` with every reference that cannot be resolved.
  package func resolvedEndpoints(of upstream: Upstream, _ secrets: SecretReferences) throws -> [SecretText] {
    var resolved: [SecretText] = []
    var problems: [ManifestProblem] = []
    let list = JSONPointer(components: ["upstreams", upstream.name, "endpoints"])
    for (index, endpoint) in upstream.endpoints.enumerated() {
      do throws(ManifestProblem) {
        resolved.append(try secrets.secret(endpoint.url, at: list.appending(index)))
      } catch {
        problems.append(error)
      }
    }
    guard problems.isEmpty else { throw ManifestError(path: path, problems: placed(problems)) }
    return resolved
  }

  /// The headers of every request with their references resolved.
  ///
  /// - Throws: ``ManifestError`` with every reference that cannot be resolved, and every value that is not a valid header value then.
  package func resolvedHeaders(_ secrets: SecretReferences) throws -> HTTPHeaders {
    var resolved = HTTPHeaders()
    var problems: [ManifestProblem] = []
    for field in headers.fields {
      let pointer = JSONPointer().appending("headers").appending(field.name)
      do throws(ManifestProblem) {
        resolved.add(name: field.name, value: try secrets.headerValue(field.value, at: pointer))
      } catch {
        problems.append(error)
      }
    }
    guard problems.isEmpty else { throw ManifestError(path: path, problems: placed(problems)) }
    return resolved
  }

  /// The user and the password of servers of Redis.
  ///
  /// - Parameter pointer: The place of the servers in the manifest.
  /// - Throws: ``ManifestError`` with the places of references that cannot be resolved.
  package func resolvedLogin(
    of servers: RedisServers?, at pointer: JSONPointer, _ secrets: SecretReferences
  ) throws -> (user: String?, password: String?) {
    do throws(ManifestProblem) {
      let user = try servers?.user.map { text throws(ManifestProblem) in
        try secrets.resolve(text, at: pointer.appending("user"))
      }
      let password = try servers?.password.map { text throws(ManifestProblem) in
        try secrets.resolve(text, at: pointer.appending("password"))
      }
      return (user, password)
    } catch {
      throw ManifestError(path: path, problems: placed([error]))
    }
  }

  /// Hides the values of all references of the manifest that can be resolved.
  package func redaction(_ secrets: SecretReferences) -> SecretRedaction {
    let urls = upstreams.flatMap { $0.endpoints.map(\.url) }
    let logins = [store.redis?.servers, serve.shared?.servers].flatMap { [$0?.user, $0?.password] }
    let texts = ([endpoint, settings.webSocket?.url] + logins).compactMap(\.self)
    let places = (texts + urls).map { JSONValue.string($0) }
    let fields = headers.fields + downloads.flatMap(\.headers.fields)
    let values = places + [settings.webSocket?.connectionInit].compactMap(\.self) + fields.map { .string($0.value) }
    return (values + plugins.map(\.configuration)).reduce(SecretRedaction()) { redaction, value in
      redaction.joined(with: secrets.redaction(of: value))
    }
  }

  /// All references in endpoints, WebSocket and headers that cannot be resolved now.
  package func problems(of secrets: SecretReferences) -> [ManifestProblem] {
    var problems: [ManifestProblem] = []
    do { _ = try resolvedEndpoint(secrets) } catch { problems += (error as? ManifestError)?.problems ?? [] }
    for upstream in upstreams {
      do { _ = try resolvedEndpoints(of: upstream, secrets) } catch { problems += (error as? ManifestError)?.problems ?? [] }
    }
    do { _ = try resolvedWebSocketURL(secrets) } catch { problems += (error as? ManifestError)?.problems ?? [] }
    do { _ = try resolvedConnectionInit(secrets) } catch { problems += (error as? ManifestError)?.problems ?? [] }
    do { _ = try resolvedHeaders(secrets) } catch { problems += (error as? ManifestError)?.problems ?? [] }
    for download in downloads {
      do throws(ManifestProblem) { _ = try resolvedHeaders(of: download, secrets) } catch { problems += placed([error]) }
    }
    for (servers, pointer) in [(store.redis?.servers, Self.redisStorePointer), (serve.shared?.servers, Self.sharedPointer)] {
      do { _ = try resolvedLogin(of: servers, at: pointer, secrets) } catch {
        problems += (error as? ManifestError)?.problems ?? []
      }
    }
    return problems
  }
}
