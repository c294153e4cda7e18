public import CCarabiner

/// The status codes of host functions.
public enum Status {
  public static let ok = crb_status(CRB_OK)
  public static let invalid = crb_status(CRB_E_INVAL)
  public static let noMemory = crb_status(CRB_E_NOMEM)
  public static let unsupported = crb_status(CRB_E_UNSUPPORTED)
  public static let stale = crb_status(CRB_E_STALE)
  public static let state = crb_status(CRB_E_STATE)
  public static let limit = crb_status(CRB_E_LIMIT)
  public static let thread = crb_status(CRB_E_THREAD)
  public static let notFound = crb_status(CRB_E_NOTFOUND)
  public static let readOnly = crb_status(CRB_E_READONLY)
}
