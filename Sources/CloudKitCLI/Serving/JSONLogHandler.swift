import Foundation
import Logging

/// A log handler that writes each line of the log as one JSON object, for programs that collect logs.
///
/// The metadata's keys are beside `time`, `level`, `logger` and `message`, which no metadata replaces.
struct JSONLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info
    private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private let label: String
    private let write: @Sendable (String) -> Void

    init(
        label: String,
        write: @escaping @Sendable (String) -> Void = { line in
            // There is no other place for a log.
            try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
        }
    ) {
        self.label = label
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var members = (metadataProvider?.get() ?? [:]).merging(metadata) { $1 }
            .merging(event.metadata ?? [:]) { $1 }.mapValues(Member.init)
        members["time"] = .text(Date.now.formatted(Self.timeStyle))
        members["level"] = .text(event.level.rawValue)
        members["logger"] = .text(label)
        members["message"] = .text(event.message.description)
        // Texts can always be encoded.
        guard let line = try? OutputOptions.line(members) else { return }
        write(line)
    }

    /// A metadata value as JSON.
    private enum Member: Encodable {
        case text(String)
        case integer(Int64)
        case number(Double)
        case flag(Bool)
        case list([Member])
        case object([String: Member])

        init(_ value: Logger.Metadata.Value) {
            switch value {
            case .string(let text): self = .text(text)
            case .stringConvertible(let value): self.init(value)
            case .array(let values): self = .list(values.map(Member.init))
            case .dictionary(let values): self = .object(values.mapValues(Member.init))
            }
        }

        private init(_ value: any CustomStringConvertible) {
            switch value {
            case let value as any BinaryInteger: self = .integer(Int64(clamping: value))
            case let value as Double where value.isFinite: self = .number(value)
            case let value as Bool: self = .flag(value)
            default: self = .text(value.description)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            case .list(let values): try container.encode(values)
            case .object(let values): try container.encode(values)
            }
        }
    }
}
