import CloudKitWire

extension RequestAdmission {
    /// Returns the next token, for the response to a client that sent one.
    func nextToken(after token: WebToken) async throws -> String? {
        let next = WebToken(secret: token.secret, nonce: context.randomness.identifier())
        if context.configuration.rotatesWebTokens, !rotation.rotate(from: token, to: next) {
            return nil
        }
        return next.text(try await context.seal())
    }

    /// Ends the session of a token that another party holds too.
    func end(_ token: WebToken) async throws {
        try await context.changeCallers(.credential(token.hash)) { writer in
            try writer.removeCredential(.webToken, hash: token.hash)
        }
    }

    /// Returns whether less than seven eighths of a session remain, so that a session in frequent
    /// use is written every other day, not each time.
    private static func isDue(_ expires: Int64, _ now: Int64, _ life: Int64) -> Bool {
        expires - now < life - life / 8
    }

    /// Extends the session of a token that is used; returns nil if that is not necessary or it has ended.
    ///
    /// - Returns: The new expiration time, in milliseconds since 1970-01-01 UTC.
    func prolong(_ token: WebToken, expires: Int64, now: Int64) async throws -> Int64? {
        let life = context.configuration.webTokenSeconds * 1000
        guard Self.isDue(expires, now, life) else { return nil }
        return try await context.storage.write(.credential(token.hash), needing: StorageNeeds.none)
        {
            writer in
            // It may have been removed meanwhile, and must not come back.
            guard var row = try writer.credential(.webToken, hash: token.hash),
                let ends = row.expires, ends > now
            else { return nil }
            // A session ends with the API token that it was started with.
            let apiToken = try row.companion.flatMap { try writer.credential(.apiToken, hash: $0) }
            let later = min(now + life, apiToken?.expires ?? .max)
            guard ends < later else { return nil }
            row.expires = later
            try writer.putCredential(row)
            return row.expires
        }
    }
}
