internal import Carabiner
internal import CarabinerWire

extension Manifest.Settings {
  static let fields = Fields(Self()) {
    $0.key(
      "staging", \.staging, .word("is not a kind of staging; use"),
      "The place of the plugin copies: sealed memory, or files below XDG_RUNTIME_DIR, where debuggers find them.")
    $0.key(
      "timeout", \.timeout, .duration,
      "The time limit for one attempt, interceptors included; a retry by a GraphQL stage starts a new one. Without it, each exchange "
        + "with the upstream may take 30 s. Subscriptions have no limit.")
    $0.key("connect-timeout", \.connectTimeout, .duration)
    $0.key(
      "connections-per-host", \.connectionsPerHost, .count(1...100_000),
      "The most connections to one server. Further requests wait. Unlimited without it. It also limits WebSockets to the "
        + "upstream, one for each set of headers; further ones fail. Without it, there may be 10,000.")
    $0.key("maximum-head", \.maximumHeadBytes, .size)
    $0.key("maximum-body", \.maximumBodyBytes, .size)
    $0.key(
      "maximum-part", \.maximumPartBytes, .size,
      "The largest part of a multipart response. maximum-body limits all deferred parts together; subscriptions have no such limit."
    )
    $0.key(
      "redirect-headers", \.redirectHeaders, .headerPatterns,
      "Headers that are sent to another origin after a redirect. Headers that describe the body always are.")
    $0.key(
      "idle-timeout", \.idleTimeout, .duration,
      "The longest time without a result in a multipart response. Heartbeats do not count. Unlimited without it.")
    $0.key("maximum-attempts", \.maximumAttempts, .count(1...1000))
    $0.key("plugin-retries", \.pluginRetries, .count(0...1000))
    $0.key("cancel-grace", \.cancelGrace, .delay)
    $0.key(
      "kept-memory", \.keptMemoryBytes, .size,
      "The memory of calls whose plugins did not resume in time. Above this limit, calls that pass plugins fail.")
    $0.key(
      "breaker-cool-down", \.breakerCoolDown, .duration,
      "The time after which a request tries a plugin whose circuit breaker is open.")
    $0.key(
      "crash-loop", \.crashLoop, .object(CrashLoopPolicy.fields),
      "The reaction to plugins that crash the host repeatedly. Without this key, crashes are not counted.")
    $0.key(
      "ca-file", \.certificateAuthorityFile, .file("correct the path, or remove the key"),
      "A PEM file with the certificates to trust instead of the system's.")
    $0.key(
      "store-records", \.storeRecords, .count(0...100_000_000),
      "The most records of a store in memory. The least recently used are removed.")
    $0.key("store-bytes", \.storeBytes, .size, "The most bytes of a store in memory.")
    $0.key(
      "store-fields", \.storeFields, .count(1...1_000_000),
      "The most fields of a root's record, which has one per list of arguments. The oldest are removed.")
    $0.key(
      "store-file-bytes", \.storeFileBytes, .size,
      "The most bytes of a store in a file, without its log. The values that were received longest ago are removed.")
    $0.key(
      "get-for-queries", \.usesGETForQueries, .truth, "Whether queries are sent by GET, so that HTTP caches can answer them.")
    $0.key(
      "subscriptions", \.subscriptionFormat, .word("is not a known format of subscriptions; use"),
      "The format of subscriptions over HTTP that the upstream is asked for: parts of a multipart response, or events (GraphQL over "
        + "SSE, distinct connections mode).")
    $0.key(
      "client-awareness", \.clientAwareness, .object(ClientAwareness.fields),
      "The information about the client program that is sent to the upstream. Without this key, none is sent.")
    $0.group("transport", "The way in which requests are sent to the upstream.") {
      $0.key(
        "engine", \.engine, .word("is not a known engine; use"),
        "auto sends HTTP/1.1 by Carabiner's own code over connections that libcurl opens, and all else by libcurl: HTTP/2, requests "
          + "over a proxy, and file uploads. libcurl sends everything by libcurl.")
    }
    $0.key(
      "websocket", \.webSocket, .object(Manifest.WebSocket.fields), "A WebSocket for subscriptions. Without it they use HTTP.")
    $0.key(
      "worker-user", \.workerUser, .workerUser,
      "The user of workers if the host is root: a name, or the numbers of user and group, such as 65534:65534.")
  }
}

extension CrashLoopPolicy {
  static let fields = Fields(Self()) {
    $0.key("after", \.after, .count(1...1000), "The number of crashes that is too many.")
    $0.key("within", \.within, .duration, "The time in which crashes are counted.")
    $0.key(
      "then", \.then, .word("is not a known reaction; use"),
      "skip starts without the plugin, unless it is mandatory; refuse does not start.")
  }
}

extension ClientAwareness {
  static let fields = Fields(Self(applicationName: nil, applicationVersion: nil)) {
    $0.key("name", \.applicationName, .headerText, "Sent as apollographql-client-name.")
    $0.key("version", \.applicationVersion, .headerText, "Sent as apollographql-client-version.")
    $0.key("library", \.includesLibrary, .truth, "Whether extensions.clientLibrary names this library.")
  }
}

extension Manifest.WebSocket {
  static let fields = Fields(Self(url: "")) {
    $0.key(
      "url", \.url, .webSocketURL, "The URL. May contain ${env:NAME} and ${file:path}.",
      missing: "the url is missing; write the URL of the WebSocket, as in url: wss://host/graphql")
    $0.key("protocol", \.webSocketProtocol, .word("is not a protocol; use"))
    $0.key(
      "connection-init", \.connectionInit, .objectWithReferences,
      "The payload of connection_init. Texts may contain ${env:NAME} and ${file:path}.")
    $0.key("acknowledgement-timeout", \.acknowledgementTimeout, .duration)
    $0.key("ping-interval", \.pingInterval, .duration, "The time between pings. Without it the server is not pinged.")
    $0.key("maximum-message", \.maximumMessageBytes, .size)
    $0.key("reconnects", \.reconnects, .count(0...1000), "The number of attempts to open a lost connection again.")
  }
}

// MARK: Kinds of values

extension ValueKind<WorkerUser> {
  fileprivate static var workerUser: Self {
    Self(
      #""type": "string", "pattern": "^([a-z_][a-z0-9_-]{0,31}|[0-9]{1,10}:[0-9]{1,10})$", "#
        + #""not": {"pattern": "^(root$|0+:|[0-9]+:0+$)"}"#, json: { .string($0.description) },
      read: { reader, json, place in
        guard let text = reader.text(json, place) else { return nil }
        if let user = WorkerUser(text) { return user }
        reader.problem(
          .invalidValue, place,
          "\(json) is not a user for workers; write the name of a user other than root, or the numbers of user and group, as in "
            + "65534:65534")
        return nil
      })
  }
}

extension ValueKind<String> {
  /// A text that is sent as a header value unchanged.
  fileprivate static var headerText: Self {
    text(##""$ref": "#/$defs/headerText""##).checked(
      { HeaderText.isValue($0) }, { _, _ in "a header value cannot hold a line end or NUL; remove it" })
  }

  fileprivate static var webSocketURL: Self {
    text(#""type": "string", "pattern": "^wss?://|[$][{]""#) { reader, json, place in
      // This is not nil after a problem, because nil would end the reading of the object.
      guard let text = reader.reference(json, place) else { return "" }
      if text.hasPrefix("ws://") || text.hasPrefix("wss://") || text.contains("${") { return text }
      reader.problem(
        .invalidValue, place,
        "\(PrintableURL(text).description.debugDescription) is not a WebSocket URL; write a URL that begins with wss:// or ws://")
      return ""
    }
  }
}

extension ValueKind<JSONValue> {
  /// An object whose texts may contain references.
  static var objectWithReferences: Self {
    Self(
      #""type": "object""#, json: { $0 },
      read: { reader, json, place in
        guard case .object = json else {
          reader.wrongType(json, place, "an object")
          return nil
        }
        for (place, text) in json.texts(at: place) { reader.checkReferences(text, place) }
        return json
      })
  }
}
