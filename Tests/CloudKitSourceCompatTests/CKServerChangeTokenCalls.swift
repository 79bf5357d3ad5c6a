// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// The places where apps store the token between launches.
final class TokenStore {
    private var files: [String: Data] = [:]

    subscript(zoneID: CKRecordZone.ID) -> CKServerChangeToken? {
        get {
            guard let data = files[zoneID.zoneName] else { return nil }
            return try? NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKServerChangeToken.self,
                from: data
            )
        }
        set {
            files[zoneID.zoneName] = newValue.flatMap {
                try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
            }
        }
    }
}

/// A state of the app's own that holds tokens, archived as an object.
final class SyncState: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    var databaseToken: CKServerChangeToken?
    var zoneToken: CKServerChangeToken?

    override init() { super.init() }

    func encode(with coder: NSCoder) {
        coder.encode(databaseToken, forKey: "database")
        coder.encode(zoneToken, forKey: "zone")
    }

    required init?(coder: NSCoder) {
        databaseToken = coder.decodeObject(of: CKServerChangeToken.self, forKey: "database")
        zoneToken =
            coder.decodeObject(of: [CKServerChangeToken.self], forKey: "zone")
            as? CKServerChangeToken
    }
}

/// A value of the app's own that holds a token, coded as data.
struct SyncPosition: Codable {
    var token: CKServerChangeToken?

    enum CodingKeys: String, CodingKey {
        case token
    }

    init(token: CKServerChangeToken?) { self.token = token }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let data = try container.decodeIfPresent(Data.self, forKey: .token) else { return }
        token = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self,
            from: data
        )
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let data = try token.map {
            try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
        }
        try container.encodeIfPresent(data, forKey: .token)
    }
}

@Suite("Calls of CKServerChangeToken")
struct CKServerChangeTokenCalls {
    /// Returns a token, read from an archive because only the service creates one.
    private func token(_ text: String) throws -> CKServerChangeToken {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(text as NSString, forKey: "ChangeTokenData")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        defer { unarchiver.finishDecoding() }
        return try #require(CKServerChangeToken(coder: unarchiver))
    }

    @Test("A token comes out of an archive as it went in, by itself or with others")
    func archives() throws {
        let (first, second) = (try token("1"), try token("2"))
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: first,
            requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self,
            from: data
        )
        #expect(read == first && read != second && read?.hash == first.hash)
        let any = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [CKServerChangeToken.self, NSString.self],
            from: data
        )
        #expect(any as? CKServerChangeToken == first)
        #expect(first.copy() as? CKServerChangeToken == first)
        #expect(Set([first, second, try token("1")]).count == 2)
    }

    @Test("An app keeps tokens by zone, in objects and in values of its own")
    func stores() throws {
        let (first, second) = (try token("1"), try token("2"))
        let store = TokenStore()
        store[.default] = first
        store[CKRecordZone.ID(zoneName: "Notes")] = second
        #expect(store[.default] == first)
        store[.default] = nil
        #expect(store[.default] == nil)

        let state = SyncState()
        state.databaseToken = first
        state.zoneToken = second
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        state.encode(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let same = try #require(SyncState(coder: unarchiver))
        #expect(same.databaseToken == first && same.zoneToken == second)

        let position = try JSONDecoder().decode(
            SyncPosition.self,
            from: JSONEncoder().encode(SyncPosition(token: second))
        )
        #expect(position.token == second)
        let empty = try JSONEncoder().encode(SyncPosition(token: nil))
        #expect(try JSONDecoder().decode(SyncPosition.self, from: empty).token == nil)
    }

    func fetching(_ database: CKDatabase, _ store: TokenStore) async throws {
        var more = true
        while more {
            do {
                let changes = try await database.recordZoneChanges(
                    inZoneWith: .default,
                    since: store[.default]
                )
                store[.default] = changes.changeToken
                more = changes.moreComing
            } catch CKError.changeTokenExpired {
                store[.default] = nil
            }
        }
    }

    func operation(_ state: SyncState, _ database: CKDatabase) {
        let operation = CKFetchDatabaseChangesOperation(
            previousServerChangeToken: state.databaseToken
        )
        operation.changeTokenUpdatedBlock = { state.databaseToken = $0 }
        operation.fetchDatabaseChangesResultBlock = { result in
            if case .success((let token, _)) = result { state.databaseToken = token }
        }
        database.add(operation)
    }
}
