import CloudKitWebClient
import Foundation
import Synchronization

extension CloudConnection {
    /// What is known of the account besides who the user is; each part holds for one sign-in.
    struct Account {
        /// What the process was told, in place of what the service says.
        var told: (status: CKAccountStatus, signIn: Int)?
        /// What the service said last.
        var found: (status: CKAccountStatus, signIn: Int)?
        /// How often the status became another without a sign-in.
        var changes = 0
        /// The token of the user whom the status `noAccount` signed out.
        var setAside: String?
    }

    /// Grows with every sign-in and every change of the account's status; nil without a service.
    var accountEdition: Int? {
        guard let client = try? client else { return nil }
        return client.credentials.signInCount + account.withLock { $0.changes }
    }

    /// The status that the process was told, if there is one for this sign-in.
    private func toldStatus(_ client: WebClient) -> CKAccountStatus? {
        let signIn = client.signIn ?? client.credentials.signInCount
        return account.withLock { account in
            account.told.flatMap { $0.signIn == signIn ? $0.status : nil }
        }
    }

    /// Refuses to do anything for an account of which the process was told that it is of no use.
    func checkAccount(_ client: WebClient) throws(CKError) {
        if let error = toldStatus(client)?.error { throw error }
    }

    /// Says whether the account can be used; asks the service.
    ///
    /// `.CKAccountChanged` is posted where the answer is another than the last.
    func accountStatus() async throws(CKError) -> CKAccountStatus {
        let client = try client.begun()
        if let status = toldStatus(client) { return status }
        let signIn = client.signIn ?? 0
        let status: CKAccountStatus
        do {
            status = try await askForCaller(client) == nil ? .noAccount : .available
        } catch {
            // Who is signed in now is asked for anew.
            if client.credentials.signInCount != signIn { return try await accountStatus() }
            switch error.code {
            case .notAuthenticated: status = .noAccount
            case .managedAccountRestricted: status = .restricted
            case .accountTemporarilyUnavailable: status = .temporarilyUnavailable
            // Who was signed in a moment ago still is, whether or not the service can be reached.
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

    /// Takes a status of the account from elsewhere than the service, and tells the process.
    ///
    /// It holds until the next status or sign-in; `available` ends it. `noAccount` signs out, and
    /// `available` after it signs the same user in again.
    package func setAccountStatus(_ status: CKAccountStatus) throws(CKError) {
        let credentials = try client.credentials
        let token = credentials.webAuthToken
        if status == .noAccount {
            if let token { account.withLock { $0.setAside = token } }
            return try signIn(webAuthToken: nil)
        }
        if status == .available, token == nil, credentials.serverKey == nil {
            guard let token = account.withLock({ $0.setAside }) else {
                throw CKError(
                    .notAuthenticated,
                    message: "Nobody was signed in before; call signIn(webAuthToken:), or "
                        + "signIn(_:on:) of a TestCloud, instead of setAccountStatus(.available)"
                )
            }
            return try signIn(webAuthToken: token)
        }
        let signIn = try client.credentials.signInCount
        let isNews = account.withLock { account in
            let before = account.told.flatMap { $0.signIn == signIn ? $0.status : nil }
            guard (before ?? .available) != status else { return false }
            account.told = status == .available ? nil : (status, signIn)
            account.changes += 1
            return true
        }
        if isNews { postAccountChange() }
    }
}

extension CKAccountStatus {
    /// What requests fail with; nil where they need not.
    fileprivate var error: CKError? {
        switch self {
        case .available, .noAccount: nil
        case .restricted:
            CKError(
                .managedAccountRestricted,
                message: "The account may not be used here; whoever manages it can allow it"
            )
        case .temporarilyUnavailable:
            CKError(
                .accountTemporarilyUnavailable,
                message: "The account cannot be used until the user has signed in again; keep what "
                    + "is stored locally, and try again after CKAccountChanged"
            )
        // Nothing may be dropped for what is not known.
        case .couldNotDetermine:
            CKError(
                .accountTemporarilyUnavailable,
                message: "It is not known whether the account can be used; try again after "
                    + "CKAccountChanged"
            )
        }
    }
}
