public import CCarabiner

/// The verdicts, with the type that the tables use. Swift imports the header's anonymous enums as plain integers.
public enum Verdict {
  public static let `continue` = crb_verdict(CRB_CONTINUE)
  public static let pending = crb_verdict(CRB_PENDING)
  public static let respond = crb_verdict(CRB_RESPOND)
  public static let drop = crb_verdict(CRB_DROP)
  public static let finish = crb_verdict(CRB_FINISH)
  public static let fail = crb_verdict(CRB_FAIL)
  public static let retry = crb_verdict(CRB_RETRY)
  public static let recover = crb_verdict(CRB_RECOVER)

  private static let names = ["CONTINUE", "PENDING", "RESPOND", "DROP", "FINISH", "FAIL", "RETRY", "RECOVER"]

  public static func name(_ verdict: crb_verdict) -> String {
    names.indices.contains(Int(verdict)) ? names[Int(verdict)] : "\(verdict)"
  }
}
