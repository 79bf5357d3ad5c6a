import ArgumentParser
import Foundation
import Logging

/// The formats of log lines.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json

    /// Returns a logger that writes to standard error.
    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "cloudkit") { label in
            switch self {
            case .text: StreamLogHandler.standardError(label: label)
            case .json: JSONLogHandler(label: label)
            }
        }
        logger.logLevel = level
        return logger
    }
}
