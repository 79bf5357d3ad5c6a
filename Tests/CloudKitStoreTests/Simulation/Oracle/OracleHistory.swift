import CloudKitWebClient
import Foundation

/// A save that a device requests, read from the request.
struct OracleAttempt {
    var device: Int
    var record: String
    /// The version that it replaces; nil for a new record.
    var tag: String?
    var fields: [String: OracleValue]
    /// The written forms of values, by the field that holds them and by column; nil for a field that
    /// the save leaves as it is.
    var forms: [String: [String: String]]
    var isDeletion: Bool
    /// `true` when a store created it, which stamps its saves.
    var isStamped: Bool

    /// Returns the attempts in a request of `records/modify`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - device: The device's number.
    ///   - files: The contents of uploaded files, by checksum.
    /// - Returns: The attempts.
    static func all(
        in request: TransportRequest,
        by device: Int,
        _ files: [String: OracleValue]
    ) -> [OracleAttempt] {
        guard let body = request.body,
            let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any],
            let operations = json["operations"] as? [[String: Any]]
        else { return [] }
        return operations.compactMap { operation in
            guard let record = operation["record"] as? [String: Any],
                let name = record["recordName"] as? String
            else { return nil }
            let fields = record["fields"] as? [String: [String: Any]] ?? [:]
            let forms = ["storeForms", "storeSecretForms"].compactMap { name in
                fields[name].map { (name, OracleForm.forms($0["value"] as? String ?? "")) }
            }
            return OracleAttempt(
                device: device,
                record: name,
                tag: record["recordChangeTag"] as? String,
                fields: fields.mapValues { value($0["value"], $0["type"] as? String, files) },
                forms: Dictionary(uniqueKeysWithValues: forms),
                isDeletion: (operation["operationType"] as? String)?.lowercased()
                    .contains("delete") ?? false,
                isStamped: fields["storeStamp"] != nil
            )
        }
    }

    /// Returns whether the save says something of a column.
    func says(_ column: String) -> Bool {
        fields[column] != nil || forms.values.contains { $0[column] != nil }
    }

    private static func value(
        _ json: Any?,
        _ type: String?,
        _ files: [String: OracleValue]
    ) -> OracleValue {
        switch json {
        case let text as String: return .text(text)
        case let number as NSNumber where type == "DOUBLE": return .real(number.doubleValue)
        case let number as NSNumber: return .number(number.int64Value)
        case let elements as [String]: return .list(elements)
        case let members as [String: Any]:
            if let name = members["recordName"] as? String { return .text(name) }
            guard let checksum = members["fileChecksum"] as? String else { return .none }
            return files[checksum] ?? .text("a file that nobody uploaded")
        default: return .none
        }
    }

    /// Returns the checksum in the response to an upload; nil for an unreadable response.
    static func checksum(in response: TransportResponse) -> String? {
        let json = try? JSONSerialization.jsonObject(with: response.body) as? [String: Any]
        return (json?["singleFile"] as? [String: Any])?["fileChecksum"] as? String
    }

    /// Returns the new versions of records in a response, by name; nil for an unreadable response.
    ///
    /// Refused records are not included.
    static func versions(in response: TransportResponse) -> [String: String]? {
        guard response.status == 200 else { return [:] }
        guard
            let json = try? JSONSerialization.jsonObject(with: response.body) as? [String: Any],
            let records = json["records"] as? [[String: Any]]
        else { return nil }
        var versions: [String: String] = [:]
        for record in records where record["serverErrorCode"] == nil {
            guard let name = record["recordName"] as? String else { continue }
            versions[name] = record["recordChangeTag"] as? String ?? ""
        }
        return versions
    }
}
