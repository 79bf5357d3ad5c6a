/// Whose token a client shows, as a machine without locks and files: what happened goes in, and what
/// is to be kept comes out.
///
/// A token belongs to the sign-in under which it was sent. What was begun under one sign-in gets no
/// token of another, and the answer to it renews none.
package struct SignInState: Hashable, Sendable {
    /// A token to be kept for the next run, or none, and its place in the order of changes.
    package struct Change: Hashable, Sendable {
        /// The token; nil after a sign-out.
        package let token: String?
        fileprivate let edition: Int
    }

    /// The token of the signed-in user; nil without one.
    package private(set) var token: String?
    /// How often a user was signed in or out.
    package private(set) var signIn = 0

    private var edition = 0
    private var kept = 0

    /// Makes the state of a run's start.
    package init(token: String?) {
        self.token = token
    }

    /// Takes the token of another user, or of the same one who signed in again; nil is a sign-out.
    package mutating func signIn(_ token: String?) -> Change {
        signIn += 1
        return change(to: token)
    }

    /// Whether what was begun under a sign-in may go on.
    package func isCurrent(_ signIn: Int) -> Bool { signIn == self.signIn }

    /// Takes the token that an answer carries to what was asked under a sign-in; nil when it is none
    /// of this one, or no news.
    package mutating func renew(_ token: String, under signIn: Int) -> Change? {
        guard isCurrent(signIn), self.token != nil, self.token != token else { return nil }
        return change(to: token)
    }

    /// Whether a change is still to be kept: one that is overtaken by a later one is not.
    package mutating func keeps(_ change: Change) -> Bool {
        guard change.edition > kept else { return false }
        kept = change.edition
        return true
    }

    private mutating func change(to token: String?) -> Change {
        edition += 1
        self.token = token
        return Change(token: token, edition: edition)
    }
}
