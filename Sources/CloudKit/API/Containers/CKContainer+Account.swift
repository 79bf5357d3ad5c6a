/// Whether the user's own data can be reached.
@nonexhaustive
public enum CKAccountStatus: Int, Sendable {
    /// The service did not say.
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

extension CKContainer {
    /// Says whether the user's own data can be reached.
    public func accountStatus() async throws -> CKAccountStatus {
        do {
            return try await connection.callerName() == nil ? .noAccount : .available
        } catch let error where error.code == .notAuthenticated {
            return .noAccount
        }
    }

    /// Says whether the user's own data can be reached.
    public func accountStatus(
        completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
    ) {
        complete { (result: Result<CKAccountStatus, any Error>) in
            switch result {
            case .success(let status): completionHandler(status, nil)
            case .failure(let error): completionHandler(.couldNotDetermine, error)
            }
        } with: { () async throws(CKError) in
            do {
                return try await self.accountStatus()
            } catch {
                throw error as? CKError ?? CKError(.internalError, message: "\(error)")
            }
        }
    }

    /// The identity of the signed-in user's record.
    ///
    /// - Throws: `CKError.notAuthenticated` when no user is signed in.
    public func userRecordID() async throws -> CKRecord.ID {
        try await publicCloudDatabase.requests.userRecordID()
    }

    /// The identity of the signed-in user's record.
    public func fetchUserRecordID(
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { () async throws(CKError) in
            try await self.publicCloudDatabase.requests.userRecordID()
        }
    }
}
