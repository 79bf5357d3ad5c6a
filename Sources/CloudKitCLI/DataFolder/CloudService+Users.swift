import CloudKitServerCore

extension CloudService {
    /// Returns the user with a record name, an e-mail address or a full name.
    ///
    /// - Throws: `CommandFailure` when there is none, or more than one.
    func user(_ text: String, in container: String) async throws -> ServiceUser {
        let found = try await users(container: container).filter { candidate in
            candidate.userRecordName == text || candidate.emailAddress == text.lowercased()
                || candidate.fullName == text
        }
        guard let first = found.first else {
            throw CommandFailure(
                "No user \(text) in \(container); add one with cloudkit users add"
            )
        }
        guard found.count == 1 else {
            let names = found.map(\.userRecordName).joined(separator: ", ")
            throw CommandFailure("\(found.count) users match \(text); give one of \(names)")
        }
        return first
    }
}
