import ArgumentParser
import CloudKitServer
import CloudKitWebClient
import Foundation

/// The options that select output for people or for programs.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object on each line.")
    var json = false

    @OptionGroup
    var terminal: TerminalOptions

    /// Prints an object as a line of JSON with sorted keys.
    func write(_ object: some Encodable) throws {
        try Console.write(Self.line(object))
    }

    /// Returns an object as a line of JSON with sorted keys.
    static func line(_ object: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(object), as: UTF8.self)
    }

    /// Prints one element of a response in the service's format, even a failed one.
    func write(_ item: ItemResult<some Encodable>) throws {
        switch item {
        case .success(let value): try write(value)
        case .failure(let error): try write(error)
        }
    }

    /// Prints the elements of a response: as JSON, or the successful ones as a table and the others
    /// as messages.
    ///
    /// - Throws: `CommandFailure` when an element failed.
    func write<Element: Encodable>(
        _ items: [ItemResult<Element>],
        _ table: ([Element]) -> Table
    ) throws {
        let failures = items.compactMap(\.failure)
        if json {
            for item in items { try write(item) }
        } else {
            // The failures have their own lines.
            let found = items.compactMap { try? $0.get() }
            if !found.isEmpty || failures.isEmpty {
                try Console.write(table(found))
            }
            for failure in failures { Console.say(Self.text(failure)) }
        }
        guard failures.isEmpty else {
            throw CommandFailure("\(failures.count) of \(items.count) failed")
        }
    }

    /// Prints elements: as JSON, or as a table with some rows for each of them.
    func write<Element: Encodable>(
        _ elements: [Element],
        header: String...,
        rows: (Element) -> [[String]]
    ) throws {
        guard !json else { return try elements.forEach { try write($0) } }
        var table = Table(header: header)
        for row in elements.flatMap(rows) { table.add(row) }
        try Console.write(table)
    }

    /// Returns a failed element as a message.
    static func text(_ error: ItemError) -> String {
        let item = error.recordName ?? error.zoneID?.zoneName ?? error.subscriptionID
        let reason = "\(error.serverErrorCode.rawValue): \(error.reason ?? "no reason given")"
        return TerminalText.line(item.map { "\($0): \(reason)" } ?? reason)
    }
}

extension Result {
    /// The error of a failure; nil for a success.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
