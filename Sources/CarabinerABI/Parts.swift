internal import CCarabiner

/// Parts of a message, as in `needs` and `mutates`.
public struct Parts: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static var headers: Parts { Parts(rawValue: UInt32(CRB_PART_HEADERS)) }
  public static var body: Parts { Parts(rawValue: UInt32(CRB_PART_BODY)) }
  public static var url: Parts { Parts(rawValue: UInt32(CRB_PART_URL)) }
  public static var method: Parts { Parts(rawValue: UInt32(CRB_PART_METHOD)) }
  public static var document: Parts { Parts(rawValue: UInt32(CRB_PART_DOCUMENT)) }
  public static var variables: Parts { Parts(rawValue: UInt32(CRB_PART_VARIABLES)) }
  public static var extensions: Parts { Parts(rawValue: UInt32(CRB_PART_EXTENSIONS)) }
  public static var operationName: Parts { Parts(rawValue: UInt32(CRB_PART_OPERATION_NAME)) }
  public static var json: Parts { Parts(rawValue: UInt32(CRB_PART_JSON)) }
  public static var data: Parts { Parts(rawValue: UInt32(CRB_PART_DATA)) }
  public static var errors: Parts { Parts(rawValue: UInt32(CRB_PART_ERRORS)) }
  public static var chunk: Parts { Parts(rawValue: UInt32(CRB_PART_CHUNK)) }

  /// The parts through which a stage sees results.
  public static var ofResults: Parts { [.json, .data, .errors] }
}
