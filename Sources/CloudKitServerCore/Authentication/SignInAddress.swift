import CloudKitBasics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The address at which a user signs in: its token names the container, its origin receives the result.
enum SignInAddress {
    /// Returns the address for the caller of a request.
    static func url(for request: ServiceRequest, apiToken: String?) -> String {
        var url = request.baseURL + "/sign-in?ckAPIToken=" + PercentEncoding.encode(apiToken ?? "")
        if let origin = request.header("Origin") {
            url += "&origin=" + PercentEncoding.encode(origin)
        }
        return url
    }
}

extension PercentEncoding {
    /// Percent-encodes all characters except those that RFC 3986 calls unreserved.
    package static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.append(byte)
            default:
                let digits = Hexadecimal.digits(of: byte, uppercase: true)
                result += [UInt8(ascii: "%"), digits.high, digits.low]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
