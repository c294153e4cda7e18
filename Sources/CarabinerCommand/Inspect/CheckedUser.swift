internal import CarabinerFiles
internal import Glibc

/// The user of a gateway, as whom a check reads files.
///
/// Whether a file is safe depends on the user: a plugin owned by the gateway's user is safe for that user and not for root. The process
/// changes its user permanently, so that it and all its child processes see files as the gateway does.
enum CheckedUser {
  /// Changes the process's user, by name or number.
  ///
  /// - Throws: A usage error if the user does not exist, or the process is not permitted to change its user.
  static func become(_ name: String) throws {
    guard let user = unsafe getpwnam(name) ?? uid_t(name).flatMap({ unsafe getpwuid($0) }) else {
      throw usageError("there is no user \(name); --user takes a name or a number of a user of this machine")
    }
    let (id, group) = unsafe (user.pointee.pw_uid, user.pointee.pw_gid)
    guard id != geteuid() else { return }
    guard geteuid() == 0 else {
      throw usageError("only root can check for another user, and this is \(TrustedPath.userName); run it as \(name)")
    }
    guard unsafe initgroups(user.pointee.pw_name, group) == 0, setgid(group) == 0, setuid(id) == 0 else {
      throw usageError(unsafe "this process cannot change its user to \(name): \(String(cString: strerror(errno)))")
    }
  }
}
