package import Foundation

/// The errors of reading the time zone tables.
package enum TimeZoneTableError: Error, Equatable {
    /// A table cannot be read.
    case missing(URL)
    /// A line of a table does not have the form that its header describes.
    case malformed(URL, line: Int)
}

extension TimeZoneTableError: CustomStringConvertible {
    /// The problem, and the package to install.
    package var description: String {
        switch self {
        case .missing(let file):
            "The time zone table \(file.path) cannot be read. Install the IANA time zone database: "
                + "apt-get install tzdata"
        case .malformed(let file, let line):
            "\(file.path), line \(line): not a row of the IANA time zone database; reinstall "
                + "tzdata: apt-get install --reinstall tzdata"
        }
    }
}
