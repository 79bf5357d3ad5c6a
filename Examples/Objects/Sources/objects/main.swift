import AppObjects
import CloudKit
import CloudKitCoreData
import Foundation

// objects MODEL COMMAND: lists, adds and changes objects in the zone of an app with Core Data.
let help = """
    usage: objects MODEL list
           objects MODEL add ENTITY [PROPERTY=VALUE ...]
           objects MODEL set RECORD PROPERTY=VALUE ...
    """

let words = Array(CommandLine.arguments.dropFirst())
guard words.count > 1 else {
    print(help)
    exit(64)
}
let pairs = words.dropFirst(3).map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
let properties = Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { _, last in last }

do {
    let model = try CoreDataModelVersions(contentsOf: URL(fileURLWithPath: words[0])).current
    let objects = try AppObjects(model: model, database: CKContainer.default().privateCloudDatabase)
    switch (words[1], words.dropFirst(2).first) {
    case ("list", nil): for line in try await objects.list() { print(line) }
    case ("add", let entity?): print(try await objects.add(entity, properties))
    case ("set", let name?): try await objects.set(name, properties)
    default:
        print(help)
        exit(64)
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
