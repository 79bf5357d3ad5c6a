import AsyncHTTPClient
import Foundation
import NIOSSL

/// The environment's HTTP settings, under the names that other programs use too.
struct HTTPVariables: Sendable {
    /// The certificates of `SSL_CERT_FILE`, instead of the system's; nil if it is not set.
    let trustRoots: NIOSSLTrustRoots?

    /// The proxy of `HTTPS_PROXY`, for servers at https addresses.
    let proxy: HTTPClient.Configuration.Proxy?

    /// The hosts of `NO_PROXY`.
    private let direct: [String]

    /// Reads variables.
    ///
    /// - Throws: `badAddress` for an unusable variable; the message contains its name, but not its
    ///   value.
    init(_ variables: [String: String]) throws(TransportError) {
        func value(_ name: String) -> (name: String, value: String)? {
            for name in [name, name.lowercased()] {
                if let value = variables[name], !value.isEmpty { return (name, value) }
            }
            return nil
        }
        trustRoots = try value("SSL_CERT_FILE").map { name, path throws(TransportError) in
            do {
                guard try !NIOSSLCertificate.fromPEMFile(path).isEmpty else {
                    throw CocoaError(.fileReadCorruptFile)
                }
            } catch {
                throw TransportError(
                    .badAddress,
                    message: "\(name) is \(path), which is not a file of certificates in PEM form",
                    cause: error
                )
            }
            return .file(path)
        }
        proxy = try value("HTTPS_PROXY").map { name, address throws(TransportError) in
            try Self.proxy(address, name)
        }
        direct = (value("NO_PROXY")?.value ?? "").split(separator: ",").map {
            var host = $0.trimmingCharacters(in: .whitespaces).lowercased()
            if host.hasPrefix("*.") { host.removeFirst() }
            return host
        }.filter { !$0.isEmpty }
    }

    /// Returns whether a host is reached without the proxy.
    func isDirect(_ host: String) -> Bool {
        let host = host.lowercased()
        return direct.contains { name in
            name == "*" || name == host
                || host.hasSuffix(name.hasPrefix(".") ? name : "." + name)
        }
    }

    private static func proxy(
        _ address: String,
        _ name: String
    ) throws(TransportError) -> HTTPClient.Configuration.Proxy {
        // Often only host and port are given.
        let url = address.contains("://") ? address : "http://\(address)"
        func unusable(_ reason: String) -> TransportError {
            TransportError(
                .badAddress,
                message: "\(name) is not the address of a proxy: \(reason); write it as "
                    + "http://host:port or http://name:password@host:port"
            )
        }
        do {
            let server = try ServerAddress(url)
            guard !server.isSecure else { throw unusable("proxies are addressed with http") }
        } catch let error as ServerAddress.Unusable {
            throw unusable(error.reason)
        } catch let error as TransportError {
            throw error
        } catch {
            throw unusable("\(error)")
        }
        guard let parts = URLComponents(string: url, encodingInvalidCharacters: false),
            let host = parts.host
        else { throw unusable("it is not a URL") }
        let port = parts.port ?? 80
        guard let user = parts.user else { return .server(host: host, port: port) }
        return .server(
            host: host,
            port: port,
            authorization: .basic(username: user, password: parts.password ?? "")
        )
    }
}
