package import CCarabiner

/// The header's anonymous enums arrive in Swift as plain integers; these are their values with the types the tables use.
package enum Verdict {
  package static let `continue` = crb_verdict(CRB_CONTINUE)
  package static let pending = crb_verdict(CRB_PENDING)
  package static let respond = crb_verdict(CRB_RESPOND)
  package static let drop = crb_verdict(CRB_DROP)
  package static let finish = crb_verdict(CRB_FINISH)
  package static let fail = crb_verdict(CRB_FAIL)
  package static let retry = crb_verdict(CRB_RETRY)
  package static let recover = crb_verdict(CRB_RECOVER)

  private static let names = ["CONTINUE", "PENDING", "RESPOND", "DROP", "FINISH", "FAIL", "RETRY", "RECOVER"]

  package static func name(_ verdict: crb_verdict) -> String {
    names.indices.contains(Int(verdict)) ? names[Int(verdict)] : "\(verdict)"
  }
}

/// What a host function answers.
package enum Status {
  package static let ok = crb_status(CRB_OK)
  package static let invalid = crb_status(CRB_E_INVAL)
  package static let noMemory = crb_status(CRB_E_NOMEM)
  package static let unsupported = crb_status(CRB_E_UNSUPPORTED)
  package static let stale = crb_status(CRB_E_STALE)
  package static let state = crb_status(CRB_E_STATE)
  package static let limit = crb_status(CRB_E_LIMIT)
  package static let thread = crb_status(CRB_E_THREAD)
  package static let notFound = crb_status(CRB_E_NOTFOUND)
  package static let readOnly = crb_status(CRB_E_READONLY)
}

/// Parts of a message, as `needs` and `mutates` name them.
package struct Parts: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let headers = Parts(rawValue: UInt32(CRB_PART_HEADERS))
  package static let body = Parts(rawValue: UInt32(CRB_PART_BODY))
  package static let url = Parts(rawValue: UInt32(CRB_PART_URL))
  package static let method = Parts(rawValue: UInt32(CRB_PART_METHOD))
  package static let document = Parts(rawValue: UInt32(CRB_PART_DOCUMENT))
  package static let variables = Parts(rawValue: UInt32(CRB_PART_VARIABLES))
  package static let extensions = Parts(rawValue: UInt32(CRB_PART_EXTENSIONS))
  package static let operationName = Parts(rawValue: UInt32(CRB_PART_OPERATION_NAME))
  package static let json = Parts(rawValue: UInt32(CRB_PART_JSON))
  package static let data = Parts(rawValue: UInt32(CRB_PART_DATA))
  package static let errors = Parts(rawValue: UInt32(CRB_PART_ERRORS))
  package static let chunk = Parts(rawValue: UInt32(CRB_PART_CHUNK))

  /// What a result is shown by.
  package static let ofResults: Parts = [.json, .data, .errors]
}

/// The hooks of all kinds of stages.
package enum Hook: UInt8, CaseIterable, Sendable {
  case onRequest
  case onResult
  case onHead
  case onChunk
  case onRead
  case onWrite
  case onError
  case onEnd

  private static let names = ["on_request", "on_result", "on_head", "on_chunk", "on_read", "on_write", "on_error", "on_end"]

  /// What the header calls it.
  package var name: String { Self.names[Int(rawValue)] }
}

/// The four kinds of stages a plugin may have.
package enum StageKind: String, CaseIterable, Sendable {
  case graphQL = "graphql"
  case http
  case cache
  case parsing
}

extension crb_view {
  package static var absent: crb_view { unsafe crb_view(ptr: nil, len: 0) }

  /// The bytes; none of a view whose length is none: a `size_t` beyond half its range arrives here below zero.
  package var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: ptr, count: ptr == nil ? 0 : max(len, 0)) }

  package var isAbsent: Bool { unsafe ptr == nil }

  /// The text, malformed UTF-8 replaced.
  package var text: String { unsafe String(decoding: bytes, as: UTF8.self) }
}
