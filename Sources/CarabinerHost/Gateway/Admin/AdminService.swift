internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerFleet
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerRelease
internal import CarabinerSources
internal import CarabinerUpstreams
package import CarabinerWire
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Serves the admin requests of operators over a Unix domain socket.
struct AdminService: RequestHandler {
  let live: GenerationManager
  let reloader: Reloader
  let operations: OperationService
  let readiness: Readiness
  let handOver: HandOver
  let metrics: ServerMetrics
  let gateway: GatewayAdjuster
  let start = Date()

  func handle(_ request: GatewayRequest, _ reply: GatewayReply) {
    switch (request.head.method, request.path) {
    case (.GET, "/status"): answer(reply, .ok, status)
    case (.GET, "/settings"): answer(reply, .ok, ["settings": .array(gateway.settings.map(\.json))])
    case (.GET, "/metrics"):
      reply.answer(.ok, ["Content-Type": PrometheusText.contentType], ByteBuffer(string: metrics.text))
    case (.GET, "/chain"): chain(request, reply)
    case (.POST, "/reload"):
      Task {
        let isForced = FormFields(Array(request.query.utf8))?["force"] == "true"
        let report = await reloader.reload(trigger: "admin socket", anew: isForced)
        answer(reply, report.isAccepted ? .ok : .unprocessableEntity, report.json)
      }
    case (.POST, "/drain"): drain(reply)
    case (.POST, "/drain/undo"): undoDrain(reply)
    case (.POST, "/take-over"): offer(reply)
    case (.POST, "/take-over/commit"): commit(request, reply)
    case (.POST, "/plugins/enable"): override(request, reply, isEnabled: true)
    case (.POST, "/plugins/disable"): override(request, reply, isEnabled: false)
    case (.POST, "/plugins/reset"): override(request, reply, isEnabled: nil)
    case (.POST, "/trust/reset"): resetSerial(request, reply)
    case (.POST, "/trial/promote"): trial(reply) { await reloader.promote($0, trigger: "admin socket") }
    case (.POST, "/trial/abort"):
      trial(reply) { reloader.rollBack($0, "it was called off over the admin socket", trigger: "admin socket") }
    case (_, "/status"), (_, "/settings"), (_, "/metrics"), (_, "/chain"): refuse(reply, .methodNotAllowed, "use GET")
    case (_, "/reload"), (_, "/trial/promote"), (_, "/trial/abort"), (_, "/drain"), (_, "/drain/undo"),
      (_, "/trust/reset"):
      refuse(reply, .methodNotAllowed, "use POST")
    default:
      refuse(
        reply, .notFound,
        "not found; use GET /status, /settings, /chain, /metrics, or POST /reload, /drain, /drain/undo, /plugins/{enable,disable,reset}, /trial/{promote,abort}, /trust/reset"
      )
    }
  }

  private func override(_ request: GatewayRequest, _ reply: GatewayReply, isEnabled: Bool?) {
    guard let body = try? JSONValue(parsing: Array(request.body.readableBytesView)), let pattern = body["pattern"]?.string,
      !pattern.isEmpty, isEnabled == nil || body["reason"]?.string?.isEmpty == false
    else { return refuse(reply, .badRequest, #"send {"pattern": "NAME", "reason": "WHY"}"#) }
    Task {
      do {
        try await reloader.override(pattern, isEnabled: isEnabled, reason: body["reason"]?.string ?? "")
        answer(reply, .ok, ["pattern": .string(pattern), "enabled": isEnabled.map { .bool($0) } ?? .null])
      } catch let error as ManifestError {
        refuse(reply, .unprocessableEntity, error.problems.map(\.message).joined(separator: "; "))
      } catch {
        refuse(reply, .unprocessableEntity, "\(error)")
      }
    }
  }

  private func resetSerial(_ request: GatewayRequest, _ reply: GatewayReply) {
    let body = try? JSONValue(parsing: Array(request.body.readableBytesView))
    guard let subject = body?["subject"]?.string.flatMap({ ReleaseSubject($0) }) else {
      return refuse(reply, .badRequest, #"send {"subject": "KIND:NAME"}"#)
    }
    Task {
      do {
        guard try await reloader.resetSerial(of: subject) else {
          return refuse(reply, .unprocessableEntity, "no serial of \(subject) is recorded")
        }
        logAlways("an operator has reset the serial of \(subject): an older file is accepted")
        answer(reply, .ok, ["subject": .string(subject.description)])
      } catch {
        refuse(reply, .unprocessableEntity, "\(error)")
      }
    }
  }

  private func trial(_ reply: GatewayReply, _ body: @escaping @Sendable (GenerationTrial) async -> ReloadReport?) {
    Task {
      guard let trial = live.trial, let report = await body(trial) else {
        return refuse(reply, .conflict, "no generation is on trial")
      }
      answer(reply, .ok, report.json)
    }
  }

  // MARK: Readiness

  private func drain(_ reply: GatewayReply) {
    readiness.drain()
    logAlways("an operator drains the gateway: /readyz answers with 503, and requests are served")
    answer(reply, .ok, readyJSON)
  }

  private func undoDrain(_ reply: GatewayReply) {
    guard readiness.undoDrain() else {
      return refuse(reply, .conflict, "the gateway is ending, and stays not ready; start it again")
    }
    logAlways("the drain by an operator is over: /readyz answers with 200")
    answer(reply, .ok, readyJSON)
  }

  private var readyJSON: JSONValue {
    let reasons = operations.readinessReasons
    return ["ready": .bool(reasons.isEmpty), "reasons": .array(reasons.map { .string($0) })]
  }

  private func logAlways(_ message: Logger.Message) {
    var logger = live.output.logger
    logger.logLevel = min(logger.logLevel, .notice)
    logger.notice(message)
  }

  // MARK: Successors

  private func offer(_ reply: GatewayReply) {
    Task {
      do {
        answer(reply, .ok, try await handOver.offer(reply))
      } catch {
        refuse(reply, .conflict, "\(error)")
      }
    }
  }

  private func commit(_ request: GatewayRequest, _ reply: GatewayReply) {
    let body = try? JSONValue(parsing: Array(request.body.readableBytesView))
    guard let token = body?["token"]?.string else {
      return refuse(reply, .badRequest, #"send {"token": TEXT, "process": NUMBER}"#)
    }
    Task {
      do {
        try await handOver.commit(token)
        answer(reply, .ok, ["committed": true])
        handOver.begin(successor: body?["process"]?.int.map { "\($0)" } ?? "unknown")
      } catch {
        refuse(reply, .conflict, "\(error)")
      }
    }
  }

  // MARK: Answers

  private func answer(_ reply: GatewayReply, _ status: HTTPResponseStatus, _ json: JSONValue) {
    reply.answer(
      status, ["Content-Type": "application/json"],
      ByteBuffer(string: live.output.redacted(String(decoding: json.serialized(pretty: true), as: UTF8.self)) + "\n"))
  }

  private func answer(_ reply: GatewayReply, _ text: String) {
    reply.answer(.ok, ["Content-Type": "text/plain; charset=utf-8"], ByteBuffer(string: live.output.redacted(text) + "\n"))
  }

  private func refuse(_ reply: GatewayReply, _ status: HTTPResponseStatus, _ message: String) {
    answer(reply, status, ["error": .string(message)])
  }

  // MARK: Status

  private var status: JSONValue {
    let current = live.current
    let load = operations.load
    let reloads = live.reloadCounts
    return [
      "generation": .count(current.number), "since": .string(current.since.ISO8601Format()),
      "manifest": .string(current.manifest.path), "started": .string(start.ISO8601Format()),
      "version": .string(ServerVersion.text), "readiness": readyJSON,
      "process": .count(ProcessInfo.processInfo.processIdentifier),
      "operations": ["running": .count(load.running), "waiting": .count(load.waiting)],
      "connections": .count(metrics.listeners.connectionCount),
      "listeners": .array(
        metrics.listeners.clients.map {
          ["address": .string($0.name), "tls": .bool($0.hasTLS), "roles": .array($0.roles.names.map { .string($0) })]
        }),
      "retired": .array(
        live.retired.map { ["generation": .count($0.number), "operations": .count($0.operationCount)] }),
      "plugins": .array(
        current.host.chain.entries().map(\.json)),
      "upstreams": .array(current.host.upstreams.all.map(\.json)),
      "workers": .array(current.host.chain.workers().map(\.json)),
      "quarantined": ["calls": .count(HostedChain.quarantinedCalls), "bytes": .count(HostedChain.quarantinedBytes)],
      "reloads": ["all": .count(reloads.all), "refused": .count(reloads.refused)],
      "source": source,
      "trial": live.trial?.json ?? .null, "lastReload": live.lastReload?.json ?? .null,
    ]
  }

  /// The state of a source that is not a file.
  private var source: JSONValue {
    guard let remote = metrics.host.remote else { return .null }
    let source = remote.metrics
    return [
      "up": .bool(source.isUp), "revision": source.revision.map { .count($0) } ?? .null, "stale": .bool(live.current.isKept),
      "errors": .object(JSONObject(source.errors.sorted { $0.key < $1.key }.map { ($0.key, .count($0.value)) })),
      "fleet": source.fleet?.json ?? .null,
    ]
  }

  private func chain(_ request: GatewayRequest, _ reply: GatewayReply) {
    guard let fields = FormFields(Array(request.query.utf8)) else {
      return refuse(reply, .badRequest, "the URL's query is malformed; use ?operation=NAME&type=query")
    }
    guard let type = GraphQLOperationType(rawValue: fields["type"] ?? "query") else {
      return refuse(reply, .badRequest, "the type must be query, mutation or subscription")
    }
    let chain = LiveChain(live.current, of: fields["operation"], type, live.timings)
    switch ChainDrawing.Format(rawValue: fields["format"] ?? "json") {
    case .json: answer(reply, .ok, chain.json)
    case .text: answer(reply, chain.text)
    case .dot: answer(reply, chain.dot)
    case nil: refuse(reply, .badRequest, "the format must be json, text or dot")
    }
  }
}

extension FleetMetrics {
  fileprivate var json: JSONValue {
    [
      "node": .string("\(node)"), "state": state.map { .string($0.rawValue) } ?? .null, "registered": .bool(isRegistered),
      "candidate": candidate.map { .string("\($0)") } ?? .null, "stage": .count(stage), "halted": .bool(isHalted),
    ]
  }
}

extension JSONValue {
  /// A JSON number from an integer, clamped to the range of Int.
  package static func count(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(Int(clamping: number))) }
}

extension EntryStatus {
  /// The entry as `carabiner status` shows it.
  var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "name": .string(name), "origin": .string(origin.rawValue), "file": .string(path), "sha256": text(digest), "id": text(id),
      "version": text(version), "lists": .array(lists.map { .string($0.rawValue) }), "mandatory": .bool(isMandatory),
      "readsResults": .bool(readsResults),
      "enabled": .bool(isEnabled), "decision": text(decision?.description),
      "breaker": text(breaker.map { "\($0.phase), \($0.consecutiveFaults) of \($0.threshold) faults in a row" }),
      "faults": .count(faults), "failures": .count(failures), "retries": .count(retries), "calls": .count(callsBegun),
      "underWay": .count(callsInFlight),
    ]
  }
}
