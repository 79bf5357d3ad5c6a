import CloudKitWebClient
import Foundation
import Synchronization

extension CloudConnection {
    /// The state of the account apart from the user's name; each part is valid for one sign-in.
    struct Account {
        /// The status that was set, which overrides the service's.
        var assigned: (status: CKAccountStatus, signIn: Int)?
        /// The status that the service last reported.
        var found: (status: CKAccountStatus, signIn: Int)?
        /// The number of status changes without a sign-in.
        var changes = 0
        /// The token of the user whom the status `noAccount` signed out.
        var signedOutToken: String?
    }

    /// A number that grows with every sign-in and every change of the account's status; nil without
    /// a service.
    var accountEdition: Int? {
        // Requests report why there is no service.
        guard let client = try? client else { return nil }
        return client.credentials.signInCount + account.withLock { $0.changes }
    }

    /// Returns the status that was set for this sign-in, if any.
    private func assignedStatus(_ client: WebClient) -> CKAccountStatus? {
        let signIn = client.signIn ?? client.credentials.signInCount
        return account.withLock { account in
            account.assigned.flatMap { $0.signIn == signIn ? $0.status : nil }
        }
    }

    /// Throws the error of an account whose status was set to unusable.
    func checkAccount(_ client: WebClient) throws(CKError) {
        if let error = assignedStatus(client)?.error { throw error }
    }

    /// Fetches the account status from the service.
    ///
    /// Posts `.CKAccountChanged` when the status differs from the last one.
    func accountStatus() async throws(CKError) -> CKAccountStatus {
        let client = try client.begun()
        if let status = assignedStatus(client) { return status }
        let signIn = client.signIn ?? 0
        let status: CKAccountStatus
        do {
            status = try await askForCaller(client) == nil ? .noAccount : .available
        } catch {
            // The new user's status is fetched again.
            if client.credentials.signInCount != signIn { return try await accountStatus() }
            switch error.code {
            case .notAuthenticated: status = .noAccount
            case .managedAccountRestricted: status = .restricted
            case .accountTemporarilyUnavailable: status = .temporarilyUnavailable
            // A user who was signed in a moment ago still is, whether or not the service can be
            // reached.
            case _ where knownCaller(client) != nil: return .available
            default: throw error
            }
        }
        let isNews = account.withLock { account in
            defer { account.found = (status, signIn) }
            guard let found = account.found, found.signIn == signIn, found.status != status else {
                return false
            }
            account.changes += 1
            return true
        }
        if isNews { postAccountChange() }
        return status
    }

    /// Sets a status of the account from a source other than the service, and notifies the process.
    ///
    /// It holds until the next status or sign-in; `available` ends it. `noAccount` signs the user
    /// out, and a subsequent `available` signs the same user in again.
    package func setAccountStatus(_ status: CKAccountStatus) throws(CKError) {
        let credentials = try client.credentials
        let token = credentials.webAuthToken
        if status == .noAccount {
            if let token { account.withLock { $0.signedOutToken = token } }
            return try signIn(webAuthToken: nil)
        }
        if status == .available, token == nil, credentials.serverKey == nil {
            guard let token = account.withLock({ $0.signedOutToken }) else {
                throw CKError(
                    .notAuthenticated,
                    message: "No user was signed in before; call signIn(webAuthToken:), or "
                        + "signIn(_:on:) of a TestCloud, instead of setAccountStatus(.available)"
                )
            }
            return try signIn(webAuthToken: token)
        }
        let signIn = try client.credentials.signInCount
        let isNews = account.withLock { account in
            let before = account.assigned.flatMap { $0.signIn == signIn ? $0.status : nil }
            guard (before ?? .available) != status else { return false }
            account.assigned = status == .available ? nil : (status, signIn)
            account.changes += 1
            return true
        }
        if isNews { postAccountChange() }
    }
}

extension CKAccountStatus {
    /// The error of requests under this status; nil if they may be sent.
    fileprivate var error: CKError? {
        switch self {
        case .available, .noAccount: nil
        case .restricted:
            CKError(
                .managedAccountRestricted,
                message: "The account may not be used here; its administrator can allow it"
            )
        case .temporarilyUnavailable:
            CKError(
                .accountTemporarilyUnavailable,
                message: "The account cannot be used until the user has signed in again; keep what "
                    + "is stored locally, and try again after CKAccountChanged"
            )
        // No data may be discarded while the status is unknown.
        case .couldNotDetermine:
            CKError(
                .accountTemporarilyUnavailable,
                message: "It is not known whether the account can be used; try again after "
                    + "CKAccountChanged"
            )
        }
    }
}
