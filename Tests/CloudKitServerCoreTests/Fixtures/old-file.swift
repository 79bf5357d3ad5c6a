// Writes a server's database with the code of the version that it is built with: see README.md.
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation

let container = "iCloud.com.example.notes"
let folder = CommandLine.arguments[1]
let service = CloudService(
    storage: try SQLiteStorage(path: folder + "/cloud.sqlite"),
    assets: try FileAssetStorage(directory: folder + "/assets"),
    clock: SystemClock(),
    randomness: SystemRandomness()
)
let apiToken = String(repeating: "0123456789abcdef", count: 4)
try await service.addAPIToken(apiToken, container: container, environment: .development)

/// The reason why the database cannot be created.
struct Refused: Error, CustomStringConvertible {
    let description: String
}

func signIn(_ name: String, _ address: String) async throws -> String {
    let user = try await service.addUser(
        container: container,
        name: name,
        emailAddress: address
    )
    return try await service.addWebAuthToken(
        user: user,
        apiToken: apiToken,
        environment: .development
    )
}

func escape(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
}

@discardableResult
func call(
    _ path: String,
    as token: String,
    mayFail: Bool = false,
    _ body: [String: Any]
) async throws -> [String: Any] {
    let request = ServiceRequest(
        method: "POST",
        path: "/database/1/\(container)/development/\(path)",
        query: "ckAPIToken=\(apiToken)&ckWebAuthToken=\(escape(token))",
        headers: [("Content-Type", "application/json"), ("Host", "127.0.0.1")],
        body: try JSONSerialization.data(withJSONObject: body),
        baseURL: "http://127.0.0.1"
    )
    let response = await service.respond(to: request)
    let text = String(decoding: response.body, as: UTF8.self)
    if !mayFail, response.status != 200 || text.contains("serverErrorCode") {
        throw Refused(description: "\(path): \(response.status) \(text)")
    }
    return try JSONSerialization.jsonObject(with: response.body) as? [String: Any] ?? [:]
}

func value(_ value: Any, _ type: String) -> [String: Any] { ["value": value, "type": type] }

/// Saves records one by one, so that each has its own position in the zone's history.
@discardableResult
func save(
    _ database: String,
    as token: String,
    zone: String? = nil,
    type: String = "Note",
    _ name: String,
    _ fields: [String: Any],
    more: [String: Any] = [:],
    operation: String = "forceUpdate"
) async throws -> [String: Any] {
    var record: [String: Any] = ["recordName": name, "recordType": type, "fields": fields]
    for (key, value) in more { record[key] = value }
    var body: [String: Any] = ["operations": [["operationType": operation, "record": record]]]
    if let zone { body["zoneID"] = ["zoneName": zone] }
    let response = try await call("\(database)/records/modify", as: token, body)
    return (response["records"] as? [[String: Any]])?.first ?? [:]
}

let ada = try await signIn("Ada Lovelace", "ada@example.com")
let bob = try await signIn("Bob Hopper", "bob@example.com")

func zone(_ name: String, _ operation: String) async throws {
    try await call(
        "private/zones/modify",
        as: ada,
        ["operations": [["operationType": operation, "zone": ["zoneID": ["zoneName": name]]]]]
    )
}

try await zone("Notes", "create")
try await zone("Gone", "create")
try await save("private", as: ada, zone: "Gone", "lost", ["title": value("Lost", "STRING")])
try await zone("Gone", "delete")
try await call(
    "private/subscriptions/modify",
    as: ada,
    [
        "operations": [
            [
                "operationType": "create",
                "subscription": [
                    "subscriptionType": "zone", "subscriptionID": "notes",
                    "zoneID": ["zoneName": "Notes"],
                ],
            ]
        ]
    ]
)
// Versions without notifications refuse this; then no notification waits in the database.
let tokens = await service.respond(
    to: ServiceRequest(
        method: "POST",
        path: "/device/1/\(container)/development/tokens/create",
        query: "ckAPIToken=\(apiToken)&ckWebAuthToken=\(escape(ada))",
        headers: [("Content-Type", "application/json"), ("Host", "127.0.0.1")],
        body: Data(#"{"apnsEnvironment": "development", "clientId": "a"}"#.utf8),
        baseURL: "http://127.0.0.1"
    )
)
print("tokens/create: \(tokens.status)")

let everything: [String: Any] = [
    "title": value("All kinds", "STRING"), "count": value(42, "INT64"),
    "share": value(0.25, "DOUBLE"), "when": value(1_767_225_600_000, "TIMESTAMP"),
    "data": value("AAEC", "BYTES"),
    "place": value(["latitude": 47.4, "longitude": 8.5], "LOCATION"),
    "tags": value(["a", "b"], "STRING_LIST"), "numbers": value([1, 2, 3], "INT64_LIST"),
]
try await save("private", as: ada, zone: "Notes", "all", everything)
try await save("private", as: ada, zone: "Notes", "root", ["title": value("Root", "STRING")])
try await save(
    "private",
    as: ada,
    zone: "Notes",
    "child",
    [
        "title": value("Child", "STRING"),
        "up": value(["recordName": "root", "action": "DELETE_SELF"], "REFERENCE"),
    ],
    more: ["parent": ["recordName": "root"]]
)
try await save("private", as: ada, zone: "Notes", "deleted", ["title": value("x", "STRING")])
try await save("private", as: ada, zone: "Notes", "deleted", [:], operation: "forceDelete")
try await save("private", as: ada, zone: "Notes", "root", ["count": value(7, "INT64")])
try await save("private", as: ada, "loose", ["title": value("In the default zone", "STRING")])
try await save("public", as: ada, type: "City", "zurich", ["name": value("Zürich", "STRING")])
try await save(
    "public",
    as: bob,
    type: "Street",
    "bahnhof",
    ["city": value(["recordName": "zurich", "action": "DELETE_SELF"], "REFERENCE")]
)
try await save(
    "public",
    as: ada,
    type: "Street",
    "limmat",
    ["city": value(["recordName": "zurich", "action": "DELETE_SELF"], "REFERENCE")]
)

// A share of the root, which Bob accepts.
let head = try await call(
    "private/records/lookup",
    as: ada,
    ["records": [["recordName": "root"]], "zoneID": ["zoneName": "Notes"]]
)
let tag = ((head["records"] as? [[String: Any]])?.first?["recordChangeTag"] as? String) ?? ""
let shared = try await call(
    "private/records/modify",
    as: ada,
    [
        "zoneID": ["zoneName": "Notes"], "atomic": true,
        "operations": [
            [
                "operationType": "create",
                "record": [
                    "recordType": "cloudkit.share", "recordName": "the-share",
                    "publicPermission": "READ_WRITE",
                    "forRecord": ["recordName": "root", "recordChangeTag": tag],
                ],
            ]
        ],
    ]
)
let guid = (shared["records"] as? [[String: Any]])?.compactMap { $0["shortGUID"] as? String }.first
guard let guid else { throw Refused(description: "no short GUID: \(shared)") }
try await call("public/records/accept", as: bob, ["shortGUIDs": [["value": guid]]])
#if SNAPSHOTS
_ = try await service.takeSnapshot("kept", of: container)
try await save("private", as: ada, zone: "Notes", "late", ["title": value("Late", "STRING")])
try await save("private", as: ada, zone: "Notes", "all", ["count": value(43, "INT64")])
#endif
try Data(ada.utf8).write(to: URL(fileURLWithPath: folder + "/token"))
print("done")
