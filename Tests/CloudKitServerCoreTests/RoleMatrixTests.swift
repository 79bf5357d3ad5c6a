import CloudKitServerCore
import CloudKitWire
import Crypto
import Foundation
import ServerFixtures
import Testing

/// The matrix of permissions: database × role × operation × ownership.
@Suite("The matrix of roles")
struct RoleMatrixTests {
    /// The caller.
    enum Role: String, Sendable, CaseIterable {
        /// An API token alone.
        case nobody
        /// A user who created none of the records.
        case user
        /// The user who created the records.
        case creator
        /// A server-to-server key.
        case key
        /// A user who accepted a share with permission to read.
        case reader
        /// A user who accepted a share with permission to write.
        case writer
    }

    /// The outcome of a request.
    enum Outcome: String, Sendable {
        case done
        /// `ACCESS_DENIED` for the record.
        case denied
        /// The record does not exist for this caller.
        case hidden
        /// `ZONE_NOT_FOUND` for the request.
        case noZone
        /// 421 `AUTHENTICATION_REQUIRED`.
        case signIn
        /// 401 `AUTHENTICATION_FAILED`.
        case failed
    }

    /// The operations, in the order of the table's columns.
    static let operations = [
        "lookup", "query", "create", "forceUpdate", "forceReplace", "update", "delete",
        "forceDelete",
    ]

    /// A line of the table.
    struct Line: Sendable, CustomTestStringConvertible {
        var database: DatabaseScope
        var type: String
        var role: Role
        var outcomes: [Outcome]
        var testDescription: String { "\(database.rawValue) \(type) as \(role.rawValue)" }
    }

    // Apple's documentation, "Security roles" and "Sharing records": in the public database grants
    // of the type decide, in a private one ownership, in a shared one the participant's permission.
    // `Note` has the default grants; `Page` may be read by users only; `Wiki` may be written by
    // every user; `Wall` by everyone; `Board` allows users to create records that they cannot
    // change.
    private static let table = """
        database type  role    lookup query  create forceUpdate forceReplace update delete forceDelete
        public   Note  nobody  done   done   denied denied      denied       denied denied denied
        public   Note  user    done   done   done   denied      denied       denied denied denied
        public   Note  key     done   done   done   denied      denied       denied denied denied
        public   Note  creator done   done   done   done        done         done   done   done
        public   Page  nobody  denied hidden denied denied      denied       denied denied denied
        public   Page  user    done   done   done   denied      denied       denied denied denied
        public   Page  key     done   done   done   denied      denied       denied denied denied
        public   Page  creator done   done   done   done        done         done   done   done
        public   Wiki  nobody  done   done   denied denied      denied       denied denied denied
        public   Wiki  user    done   done   done   done        done         done   done   done
        public   Wiki  key     done   done   done   done        done         done   done   done
        public   Wiki  creator done   done   done   done        done         done   done   done
        public   Wall  nobody  done   done   done   done        done         done   done   done
        public   Wall  user    done   done   done   done        done         done   done   done
        public   Wall  key     done   done   done   done        done         done   done   done
        public   Wall  creator done   done   done   done        done         done   done   done
        public   Board nobody  done   done   denied denied      denied       denied denied denied
        public   Board user    done   done   done   denied      denied       denied denied denied
        public   Board key     done   done   done   denied      denied       denied denied denied
        public   Board creator done   done   done   denied      denied       denied denied denied
        private  Note  nobody  signIn signIn signIn signIn      signIn       signIn signIn signIn
        private  Note  user    noZone noZone noZone noZone      noZone       noZone noZone noZone
        private  Note  key     failed failed failed failed      failed       failed failed failed
        private  Note  creator done   done   done   done        done         done   done   done
        shared   Note  nobody  signIn signIn signIn signIn      signIn       signIn signIn signIn
        shared   Note  user    noZone noZone noZone noZone      noZone       noZone noZone noZone
        shared   Note  key     failed failed failed failed      failed       failed failed failed
        shared   Note  creator noZone noZone noZone noZone      noZone       noZone noZone noZone
        shared   Note  reader  done   done   denied denied      denied       denied denied denied
        shared   Note  writer  done   done   done   done        done         done   done   done
        """

    static let lines: [Line] = table.split(separator: "\n").dropFirst().compactMap { line in
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 3 + operations.count,
            let database = DatabaseScope(rawValue: words[0]), let role = Role(rawValue: words[2])
        else { return nil }
        let outcomes = words.dropFirst(3).compactMap(Outcome.init)
        return Line(database: database, type: words[1], role: role, outcomes: outcomes)
    }

    @Test("The role table has an outcome for each operation")
    func table() {
        #expect(Self.lines.count == 30)
        #expect(Self.lines.allSatisfy { $0.outcomes.count == Self.operations.count })
    }

    @Test("Each operation ends as the table says", arguments: RoleMatrixTests.lines)
    func cells(line: Line) async throws {
        for (operation, expected) in zip(Self.operations, line.outcomes) {
            let world = try await World()
            let found = try await world.outcome(of: operation, line)
            #expect(found == expected, "\(operation)")
        }
    }
}

extension RoleMatrixTests {
    /// A container in which Ada created a record of each type in every database.
    private struct World {
        let cloud: FixtureCloud
        let ada: FixtureCloud.User
        let bob: FixtureCloud.User
        let keyID: String
        let key = P256.Signing.PrivateKey()

        private static let schema = """
            DEFINE SCHEMA
            RECORD TYPE Note ("___recordID" REFERENCE QUERYABLE, title STRING);
            RECORD TYPE Page ("___recordID" REFERENCE QUERYABLE, title STRING,
                GRANT READ, CREATE TO "_icloud", GRANT READ, CREATE, WRITE TO "_creator");
            RECORD TYPE Wiki ("___recordID" REFERENCE QUERYABLE, title STRING,
                GRANT READ TO "_world", GRANT READ, CREATE, WRITE TO "_icloud");
            RECORD TYPE Wall ("___recordID" REFERENCE QUERYABLE, title STRING,
                GRANT READ, CREATE, WRITE TO "_world");
            RECORD TYPE Board ("___recordID" REFERENCE QUERYABLE, title STRING,
                GRANT READ TO "_world", GRANT CREATE TO "_icloud", GRANT READ TO "_creator");
            """

        init() async throws {
            cloud = try await FixtureCloud()
            _ = try await cloud.service.importSchema(
                Self.schema,
                container: FixtureCloud.container,
                environment: .development
            )
            ada = try await cloud.addUser("Ada")
            bob = try await cloud.addUser("Bob", emailAddress: "bob@example.com")
            keyID = try await cloud.service.addServerKey(
                publicKey: key.publicKey.pemRepresentation,
                container: FixtureCloud.container,
                environment: .development
            )
            try await cloud.addZone("Notes", as: ada)
        }

        /// Returns the zone as the caller names it.
        private func zone(_ line: Line) -> JSON {
            switch line.database {
            case .public: ["zoneName": "_defaultZone"]
            case .private, .shared: ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
            }
        }

        func outcome(of operation: String, _ line: Line) async throws -> Outcome? {
            let tag = try await prepare(line)
            var body: [String: JSON] = ["zoneID": zone(line)]
            let endpoint: String
            switch operation {
            case "lookup":
                endpoint = "records/lookup"
                body["records"] = [["recordName": "old"]]
            case "query":
                endpoint = "records/query"
                body["query"] = ["recordType": .string(line.type)]
            default:
                endpoint = "records/modify"
                var record: [String: JSON] = [
                    "recordName": operation == "create" ? "new" : "old",
                    "recordType": .string(line.type),
                    "fields": ["title": ["value": "Changed"]],
                ]
                if line.database == .shared { record["parent"] = ["recordName": "root"] }
                if operation == "update" || operation == "delete" {
                    record["recordChangeTag"] = tag
                }
                body["operations"] = [
                    ["operationType": .string(operation), "record": .object(record)]
                ]
            }
            return Self.outcome(try await send(endpoint, line, .object(body)))
        }

        /// Creates Ada's record, and the share if there is one; returns the record's tag.
        private func prepare(_ line: Line) async throws -> JSON {
            guard line.database != .public else {
                let saved = try await cloud.modify(
                    "_defaultZone",
                    as: ada,
                    database: .public,
                    [FixtureCloud.note("create", "old", type: .string(line.type))]
                )
                return saved.records[0].recordChangeTag
            }
            let old: JSON = [
                "operationType": "create",
                "record": [
                    "recordName": "old", "recordType": "Note", "parent": ["recordName": "root"],
                ],
            ]
            let saved = try await cloud.modify(
                as: ada,
                [FixtureCloud.note("create", "root"), old]
            )
            if line.role == .reader || line.role == .writer { try await share(line.role) }
            return saved.records[1].recordChangeTag
        }

        private func share(_ role: Role) async throws {
            let permission: JSON = role == .writer ? "READ_WRITE" : "READ_ONLY"
            let participant: JSON = [
                "type": "USER", "permission": permission,
                "userIdentity": ["lookupInfo": ["emailAddress": "bob@example.com"]],
            ]
            let share: JSON = [
                "operationType": "create",
                "record": [
                    "recordName": "share", "recordType": "cloudkit.share",
                    "forRecord": ["recordName": "root"], "participants": [participant],
                ],
            ]
            let shared = try await cloud.modify(as: ada, [share])
            let accepted = try await cloud.call(
                "records/accept",
                .public,
                as: bob,
                ["shortGUIDs": [["value": shared.records[0].shortGUID]]]
            )
            #expect(accepted.body.results[0].participantStatus == "ACCEPTED")
        }

        private func send(
            _ endpoint: String,
            _ line: Line,
            _ body: JSON
        ) async throws -> FixtureCloud.Response {
            switch line.role {
            case .nobody: try await cloud.call(endpoint, line.database, as: nil, body)
            case .creator: try await cloud.call(endpoint, line.database, as: ada, body)
            case .user, .reader, .writer:
                try await cloud.call(endpoint, line.database, as: bob, body)
            case .key: try await signed(endpoint, line.database, body)
            }
        }

        private func signed(
            _ endpoint: String,
            _ database: DatabaseScope,
            _ body: JSON
        ) async throws -> FixtureCloud.Response {
            let data = try JSONEncoder().encode(body)
            let path =
                "/database/1/\(FixtureCloud.container)/development/\(database.rawValue)/\(endpoint)"
            let date = "2026-01-01T00:00:00Z"
            let hash = Data(SHA256.hash(data: data)).base64EncodedString()
            let signature = try key.signature(for: Data("\(date):\(hash):\(path)".utf8))
            let prefix = "X-Apple-CloudKit-Request-"
            return try FixtureCloud.Response(
                await cloud.service.respond(
                    to: ServiceRequest(
                        method: "POST",
                        path: path,
                        headers: [
                            (prefix + "KeyID", keyID), (prefix + "ISO8601Date", date),
                            (
                                prefix + "SignatureV1",
                                signature.derRepresentation.base64EncodedString()
                            ),
                        ],
                        body: data,
                        baseURL: "http://cloud.test"
                    )
                )
            )
        }

        private static func outcome(_ response: FixtureCloud.Response) -> Outcome? {
            switch (response.status, response.code) {
            case (200, _): break
            case (421, "AUTHENTICATION_REQUIRED"): return .signIn
            case (401, "AUTHENTICATION_FAILED"): return .failed
            case (404, "ZONE_NOT_FOUND"): return .noZone
            default: return nil
            }
            guard let record = response.records.first else { return .hidden }
            switch record.serverErrorCode.text {
            case nil: return .done
            case "ACCESS_DENIED": return .denied
            case "NOT_FOUND": return .hidden
            default: return nil
            }
        }
    }
}
