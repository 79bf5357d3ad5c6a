import Foundation
import GRDB
import Testing

@Suite("The guide to Core Data", .timeLimit(.minutes(5)))
struct CoreDataGuideTests {
    /// A command of the guide, with the lines that the guide prints below it.
    private struct Command {
        var arguments: [String]
        var output: [String] = []
    }

    private static let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/guides/core-data.md")

    /// Returns the commands in the order of the guide: those after a prompt, and those of its workflow.
    private static func commands() throws -> [Command] {
        var commands: [Command] = []
        var isPrinting = false
        for line in try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            if let command = ["$ cloudkit ", "- run: ~/cloudkit/cloudkit "]
                .compactMap({ text.hasPrefix($0) ? text.dropFirst($0.count) : nil }).first
            {
                let words = command.components(separatedBy: "  # ")[0]
                commands.append(Command(arguments: arguments(words)))
                isPrinting = text.hasPrefix("$")
            } else if text.isEmpty || text.hasPrefix("```") || text.hasPrefix("$") {
                isPrinting = false
            } else if isPrinting {
                commands[commands.count - 1].output.append(text)
            }
        }
        return commands
    }

    /// Returns the words of a command, in which quotation marks keep blanks.
    private static func arguments(_ text: String) -> [String] {
        text.components(separatedBy: "'").enumerated().flatMap { place, part in
            place.isMultiple(of: 2)
                ? part.split(separator: " ").map(String.init) : [part]
        }
    }

    private static func model(_ note: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note">\(note)
        <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify"
            destinationEntity="Folder" inverseName="notes" inverseEntity="Folder"/></entity>
        <entity name="Folder">
        <relationship name="notes" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade"
            destinationEntity="Note" inverseName="folder" inverseEntity="Note"/></entity></model>
        """
    }

    private static let store = """
        CREATE TABLE Z_PRIMARYKEY (
            Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Folder', 0, 1), (2, 'Note', 0, 2);
        CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        CREATE TABLE ZNOTE (
            Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFOLDER INTEGER,
            Z_FOK_FOLDER INTEGER, ZBODY VARCHAR);
        INSERT INTO ZFOLDER VALUES (1, 1, 1);
        INSERT INTO ZNOTE VALUES (1, 2, 1, 1, 2048, 'Milk'), (2, 2, 1, NULL, NULL, 'Bread');
        CREATE TABLE ANSCKDATABASEMETADATA (
            Z_PK INTEGER PRIMARY KEY, ZDATABASESCOPENUM INTEGER, ZDATABASENAME VARCHAR);
        INSERT INTO ANSCKDATABASEMETADATA VALUES (1, 2, 'private');
        CREATE TABLE ANSCKRECORDZONEMETADATA (
            Z_PK INTEGER PRIMARY KEY, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR,
            ZDATABASE INTEGER);
        INSERT INTO ANSCKRECORDZONEMETADATA VALUES
            (1, '__defaultOwner__', 'com.apple.coredata.cloudkit.zone', 1);
        CREATE TABLE ANSCKRECORDMETADATA (
            Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZCKRECORDNAME VARCHAR,
            ZRECORDZONE INTEGER);
        INSERT INTO ANSCKRECORDMETADATA VALUES
            (1, 1, 1, 'F1', 1), (2, 2, 1, 'N1', 1), (3, 2, 2, 'N2', 1);
        """

    /// Writes the files that the guide's commands name.
    private static func write(into folder: URL) async throws {
        let files = FileManager.default
        let package = folder.appendingPathComponent("App.xcdatamodeld")
        let versions = [
            "App 1": #"<attribute name="text" optional="YES" attributeType="String"/>"#,
            "App 2":
                #"<attribute name="body" optional="YES" attributeType="String" elementID="text"/>"#,
        ]
        for (name, note) in versions {
            let version = package.appendingPathComponent("\(name).xcdatamodel")
            try files.createDirectory(at: version, withIntermediateDirectories: true)
            try Data(model(note).utf8).write(to: version.appendingPathComponent("contents"))
        }
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
            <string>App 2.xcdatamodel</string></dict></plist>
            """.utf8
        ).write(to: package.appendingPathComponent(".xccurrentversion"))
        let app = folder.appendingPathComponent("App")
        try files.createDirectory(at: app, withIntermediateDirectories: true)
        try files.copyItem(at: package, to: app.appendingPathComponent("App.xcdatamodeld"))
        let queue = try DatabaseQueue(path: folder.appendingPathComponent("App.sqlite").path)
        try await queue.write { try $0.execute(sql: store) }
        try queue.close()
        let fixtures = guide.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Tests/CloudKitCoreDataTests/Fixtures")
        try files.copyItem(
            at: fixtures.appendingPathComponent("Trips.store"),
            to: folder.appendingPathComponent("default.store")
        )
        // The schema of the first version, with two mistakes.
        let schema = try await CommandProcess.run(
            ["schema", "from-model", package.path, "--model-version", "App 1"]
        )
        let lines = schema.output.components(separatedBy: "\n").flatMap { line -> [String] in
            let name = line.split(separator: " ").first
            if name == "CD_folder" { return ["CD_folder REFERENCE,"] }
            return name == "CD_text" ? [line, line.replacing("CD_text", with: "CD_body")] : [line]
        }
        let text = lines.joined(separator: "\n")
        try Data(text.utf8).write(to: folder.appendingPathComponent("production.ckdb"))
    }

    private static func collapsed(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("Each command of the guide runs, and prints what the guide shows")
    func commands() async throws {
        try await ServedCloud.run { cloud in
            try await Self.write(into: cloud.folder)
            let commands = try Self.commands()
            #expect(commands.count >= 10)
            for command in commands {
                let isPath = { (word: String) in
                    FileManager.default.fileExists(atPath: cloud.path(word))
                        || ["--output", "--to"].contains(
                            command.arguments.firstIndex(of: word)
                                .map { command.arguments[max($0 - 1, 0)] } ?? ""
                        )
                }
                // An output of an earlier command may be there.
                let makes = command.arguments.contains("--output")
                let arguments =
                    command.arguments.map { isPath($0) ? cloud.path($0) : $0 }
                    + (makes ? ["--force"] : [])
                let outcome = try await CommandProcess.run(arguments)
                let words = command.arguments.joined(separator: " ")
                #expect([0, 1].contains(outcome.status), "\(words): \(outcome.errors)")
                let printed = Self.collapsed(outcome.output)
                for line in command.output {
                    let shown = Self.collapsed(line.components(separatedBy: "…")[0])
                    #expect(printed.contains(shown), "\(words): \(shown) is not in \(printed)")
                }
            }
            let converted = try DatabaseQueue(path: cloud.path("app.sqlite"))
            let notes = try await converted.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM Note")
            }
            #expect(notes == 2)
        }
    }
}
