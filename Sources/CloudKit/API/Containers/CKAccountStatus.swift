/// The availability of the user's account, and thereby of the private and shared databases.
@nonexhaustive
public enum CKAccountStatus: Int, Sendable {
    /// The service did not report a status.
    case couldNotDetermine = 0
    /// A user is signed in.
    case available = 1
    /// The account may not be used.
    case restricted = 2
    /// No user is signed in.
    case noAccount = 3
    /// The account cannot be used until the user acts.
    case temporarilyUnavailable = 4
}
